#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/field/value_bound.hpp"

namespace cuszi {

/// How many values an array of these extents has.
inline std::uint64_t product(std::span<const std::uint64_t> extents) {
  std::uint64_t result = 1;
  for (const std::uint64_t extent : extents) result *= extent;
  return result;
}

/// A variable (NetCDF) or dataset (HDF5), as its file describes it.
struct Variable {
  std::string name;                    ///< with its groups, without a slash in front
  std::string type;                    ///< for messages, like "int16"
  std::optional<DType> dtype;          ///< none unless it holds f32 or f64
  std::vector<std::uint64_t> extents;  ///< slowest first; none of a scalar
  std::vector<std::uint64_t> chunk;    ///< extents of what is stored together; empty if all is
  std::vector<double> fills;           ///< values that mean missing, each once
  std::vector<double> isovalues;       ///< on whose sides values stay, as limits of what is valid
  ByteCount stored_bytes = 0;          ///< that it takes in the file, where that is known
  std::uint64_t address = 0;           ///< in a file where objects have several names; else 0
  bool is_elsewhere = false;           ///< its values are in other files
  bool is_packed = false;              ///< integers that scale_factor and add_offset unpack
  bool is_auxiliary = false;           ///< describes others: a coordinate, cell area, mesh, flag
  std::string lacking_filter;          ///< its first filter that is not there; empty if it has all

  /// How many values the variable has.
  std::uint64_t values() const { return product(extents); }

  /// Adds a value that means missing, unless it is known or NaN, which is missing anyway.
  void add_fill(double value) {
    if (std::isnan(value)) return;
    if (std::find(fills.begin(), fills.end(), value) == fills.end()) fills.push_back(value);
  }
};

/// A variable to be compressed in a copy of its file.
struct FilteredVariable {
  Variable variable;
  ValueBound bound = 0.0;
  std::uint32_t preset = 0;  ///< cuszi_preset
};

/// Sees values of a variable, in the machine's byte order, as they are written to a copy.
using CopyLook = std::function<void(const FilteredVariable& filtered, Bytes values)>;

/// An open file that holds variables. Used by one thread at a time. Every function throws
/// InputError.
class Container {
 public:
  Container() = default;
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;
  virtual ~Container() = default;

  /// All variables, in the file's order.
  virtual std::vector<Variable> variables() = 0;

  /// The variable of this name, with or without a slash in front, if there is one.
  virtual std::optional<Variable> find(const std::string& name) = 0;

  /// Fills `out` with the values of a variable of f32 or f64 from the indices `first` on, `count`
  /// of them along each axis, in the machine's byte order.
  virtual void read(const Variable& variable, std::span<const std::uint64_t> first,
                    std::span<const std::uint64_t> count, MutableBytes out) = 0;

  /// Makes the existing file `path`, called `name` in messages, a copy, of HDF5 or NetCDF-4, in
  /// which the filter of cuszi compresses these variables, whose values `look` sees. Throws
  /// OutputError, too.
  virtual void copy(const std::string& path, const std::string& name,
                    const std::vector<FilteredVariable>& filtered, const CopyLook& look) = 0;
};

/// What a module has under `open_container_symbol`: opens a file. Throws InputError.
using OpenContainer = void(const std::string& path, std::unique_ptr<Container>& opened);
inline constexpr const char* open_container_symbol = "cuszi_open_container";

/// What a module has under `container_library_symbol`: gives its library's version.
using ContainerLibrary = void(std::string& version);
inline constexpr const char* container_library_symbol = "cuszi_container_library";

}  // namespace cuszi

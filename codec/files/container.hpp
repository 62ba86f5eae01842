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

#include "codec/files/field_path.hpp"
#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/base/unmovable.hpp"
#include "core/field/bound.hpp"

namespace cuszi {

inline std::uint64_t product(std::span<const std::uint64_t> extents) {
  std::uint64_t result = 1;
  for (const std::uint64_t extent : extents) result *= extent;
  return result;
}

/// A NetCDF variable or HDF5 dataset.
struct Variable {
  std::string name;                    ///< with groups, without leading slash
  std::string type;                    ///< for messages
  std::optional<DType> dtype;          ///< nullopt unless a type of fields
  std::vector<std::uint64_t> extents;  ///< slowest first; empty for a scalar
  std::vector<std::uint64_t> chunk;    ///< extents; empty if contiguous
  std::vector<double> fills;           ///< fill values, without duplicates
  std::vector<double> isovalues;       ///< valid_min, valid_max
  ByteCount stored_bytes = 0;          ///< in the file, if known
  std::uint64_t address = 0;           ///< with hard links; else 0
  bool is_elsewhere = false;           ///< in other files
  bool is_packed = false;              ///< has scale_factor or add_offset
  double scale = 1;                    ///< scale_factor of packed ones
  bool is_auxiliary = false;           ///< coordinate, cell area, mesh, flag
  std::string lacking_filter;          ///< first missing one; else empty

  std::uint64_t values() const { return product(extents); }

  /// Integers are compressed only where a user names them.
  bool is_compressed_unasked() const { return dtype && !is_integer(*dtype) && !is_auxiliary; }

  /// Ignores duplicates and NaN.
  void add_fill(double value) {
    if (std::isnan(value)) return;
    if (std::find(fills.begin(), fills.end(), value) == fills.end()) fills.push_back(value);
  }
};

struct FilteredVariable {
  Variable variable;
  ValueBound bound = 0.0;
  std::uint32_t preset = 0;
};

/// In native byte order.
using CopyLook = std::function<void(const FilteredVariable& filtered, Bytes values)>;

/// Not thread-safe. Functions throw InputError.
class Container : public Interface {
 public:
  /// In file order.
  virtual std::vector<Variable> variables() = 0;

  /// Variable of this name; a leading slash is optional.
  virtual std::optional<Variable> find(const std::string& name) = 0;

  /// Reads the block at `first` with extents `count`, in native byte order.
  virtual void read(const Variable& variable, std::span<const std::uint64_t> first,
                    std::span<const std::uint64_t> count, MutableBytes out) = 0;

  /// Copies to the existing file `path` (`name` in messages), HDF5 or NetCDF-4, with `filtered`
  /// compressed by cuszi's filter. Also throws OutputError.
  virtual void copy(const std::string& path, const std::string& name,
                    const std::vector<FilteredVariable>& filtered, const CopyLook& look) = 0;
};

/// A module's function to open a file. Throws InputError.
using OpenContainer = void(const std::string& path, std::unique_ptr<Container>& opened);
inline constexpr const char* open_container_symbol = "cuszi_open_container";

using ContainerLibrary = void(std::string& version);
inline constexpr const char* container_library_symbol = "cuszi_container_library";

/// Opens a file. Loads the format's module, beside libcuszi, on first use. Throws InputError, or
/// DeviceError without the module.
std::unique_ptr<Container> open_container(Format format, const std::string& path);

/// Library version; nullopt without module or library.
std::optional<std::string> container_library(Format format);

}  // namespace cuszi

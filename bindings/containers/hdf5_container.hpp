#pragma once

#include <string>
#include <vector>

#include "bindings/containers/conventions.hpp"
#include "bindings/containers/hdf5_handle.hpp"
#include "codec/files/container.hpp"

namespace cuszi::hdf5 {

/// Describes a dataset; does not detect coordinates.
Variable describe(hid_t dataset, const std::string& name);

class DatasetAttributes final : public Attributes {
 public:
  explicit DatasetAttributes(hid_t dataset) : dataset_(dataset) {}

  std::string text(const char* name) const override;
  std::vector<double> numbers(const char* name) const override;

 private:
  hid_t dataset_;
};

/// An HDF5 or NetCDF-4 file.
class Hdf5Container final : public Container {
 public:
  explicit Hdf5Container(const std::string& path);

  std::vector<Variable> variables() override;
  std::optional<Variable> find(const std::string& name) override;
  void read(const Variable& variable, std::span<const std::uint64_t> first,
            std::span<const std::uint64_t> count, MutableBytes out) override;
  void copy(const std::string& path, const std::string& name,
            const std::vector<FilteredVariable>& filtered, const CopyLook& look) override;

 private:
  std::string subject(const std::string& name) const { return path_ + ':' + name; }
  Handle open_dataset(const std::string& name) const;

  std::string path_;
  Handle file_;
  std::string open_name_;  ///< last dataset read
  Handle open_;
};

}  // namespace cuszi::hdf5

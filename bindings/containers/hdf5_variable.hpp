#pragma once

#include <string>

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

}  // namespace cuszi::hdf5

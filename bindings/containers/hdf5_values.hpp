#pragma once

#include <cstddef>
#include <vector>

#include "bindings/containers/hdf5_handle.hpp"

namespace cuszi::hdf5 {

/// Memory for the values of a type in a dataspace, both of which must stay valid. What HDF5
/// allocates for those of variable length is given back at the end.
class Values {
 public:
  Values(hid_t type, hid_t space, const Subject& subject);
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  ~Values();

  void* data() { return bytes_.data(); }
  void* at(std::size_t i) { return &bytes_[i * value_bytes_]; }
  std::size_t count() const { return count_; }

 private:
  hid_t type_;
  hid_t space_;
  std::size_t count_;
  std::size_t value_bytes_;
  std::vector<std::byte> bytes_;
};

/// True if values of a type lead to others elsewhere in the file: lists, or strings of any length.
bool has_variable_length(hid_t type);

}  // namespace cuszi::hdf5

#pragma once

#include <cstddef>
#include <vector>

#include "bindings/containers/hdf5_handle.hpp"

namespace cuszi::hdf5 {

/// Frees variable-length data. `type` and `space` must stay valid.
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

/// Whether the type contains lists or variable-length strings.
bool has_variable_length(hid_t type);

}  // namespace cuszi::hdf5

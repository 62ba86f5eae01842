#pragma once

#include <hdf5.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/base/unmovable.hpp"

namespace cuszi::hdf5 {

/// For messages.
struct Subject {
  std::string name;
  bool is_output = false;

  Subject(std::string about, bool output = false)  // NOLINT(google-explicit-constructor)
      : name(std::move(about)), is_output(output) {}
  Subject(const char* about) : name(about) {}  // NOLINT(google-explicit-constructor)
};

/// For messages.
struct Names {
  Subject from;
  Subject to;
};

class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  /// Throws as fail() if `id` is invalid.
  Handle(hid_t id, Close close, const Subject& subject);
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }

  hid_t get() const { return id_; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// Innermost reason of the thread's last failure since keep_reasons(). HDF5's own stack is cleared
/// by the next call, which NetCDF makes.
std::string kept_reason();

/// HDF5's, like 1.10.8.
std::string library_version();

/// Throws InputError or OutputError with HDF5's innermost reason.
[[noreturn]] void fail(const Subject& subject);

/// Throws as fail().
template <class Status>
Status check(Status status, const Subject& subject) {
  if (status < 0) fail(subject);
  return status;
}

/// Keeps errors for kept_reason(), unprinted.
void keep_reasons();

/// Registers cuszi's filter.
void prepare_library();

/// Frees variable-length data. `type` and `space` must stay valid.
class Values : Unmovable {
 public:
  Values(hid_t type, hid_t space, const Subject& subject);
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

/// Type of a dataset's values, in native byte order.
Handle native_type(hid_t dataset, const Subject& subject);

/// Whether the type contains lists or variable-length strings.
bool has_variable_length(hid_t type);

}  // namespace cuszi::hdf5

#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

namespace cuszi::hdf5 {

/// What a call is about, for messages.
struct Subject {
  std::string name;
  bool is_output = false;

  Subject(std::string about, bool output = false)  // NOLINT(google-explicit-constructor)
      : name(std::move(about)), is_output(output) {}
  Subject(const char* about) : name(about) {}  // NOLINT(google-explicit-constructor)
};

/// What to call two files.
struct Names {
  Subject from;
  Subject to;
};

/// An identifier of HDF5's, closed at the end.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  /// Throws what fail() does, about `subject`, if there is none.
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

/// The innermost reason that HDF5 has given for the calling thread's last failure since
/// keep_reasons(): its own stack of errors is cleared by the next call, as NetCDF makes them after
/// a failure. Empty if nothing has failed.
std::string kept_reason();

/// That of HDF5, like 1.10.8.
std::string library_version();

/// Throws InputError, or OutputError about an output: its name, and the innermost reason that HDF5
/// gives for its last failure.
[[noreturn]] void fail(const Subject& subject);

/// Throws what fail() does if `status` is one of failure.
template <class Status>
Status check(Status status, const Subject& subject) {
  if (status < 0) fail(subject);
  return status;
}

/// Makes HDF5 keep reasons for kept_reason() instead of printing them.
void keep_reasons();

/// What the library needs once: it prints no reasons, and has the filter of cuszi.
void prepare_library();

}  // namespace cuszi::hdf5

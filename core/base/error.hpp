#pragma once

#include <stdexcept>
#include <string>

namespace cuszi {

/// Error category; front ends map it to an exit code and a hint.
enum class ErrorKind { usage, input, archive, bound, device, output, memory, internal };

/// The setting to change after an error; front ends name it in their users' terms.
enum class Setting {
  none,
  alpha,
  axes,
  beta,
  fill_values,
  frame_size,
  huffman_width,
  interp,
};

/// The message is one line with the offending value and what is accepted.
class Error : public std::runtime_error {
 public:
  ErrorKind kind() const noexcept { return kind_; }
  Setting setting() const noexcept { return setting_; }

 protected:
  Error(ErrorKind kind, const std::string& message, Setting setting)
      : std::runtime_error(message), kind_(kind), setting_(setting) {}

 private:
  ErrorKind kind_;
  Setting setting_;
};

/// A setting, or a combination of settings, that is not supported.
struct UsageError : Error {
  explicit UsageError(const std::string& message, Setting setting = Setting::none)
      : Error(ErrorKind::usage, message, setting) {}
};

/// An input that cannot be read or does not match its dims.
struct InputError : Error {
  explicit InputError(const std::string& message)
      : Error(ErrorKind::input, message, Setting::none) {}
};

/// An archive that is damaged, truncated, hostile, or of another format.
struct ArchiveError : Error {
  explicit ArchiveError(const std::string& message)
      : Error(ErrorKind::archive, message, Setting::none) {}
};

struct BoundError : Error {
  explicit BoundError(const std::string& message)
      : Error(ErrorKind::bound, message, Setting::none) {}
};

/// A device, driver, library or device memory is unavailable.
struct DeviceError : Error {
  explicit DeviceError(const std::string& message, Setting setting = Setting::none)
      : Error(ErrorKind::device, message, setting) {}
};

struct MemoryError : Error {
  explicit MemoryError(const std::string& message, Setting setting = Setting::none)
      : Error(ErrorKind::memory, message, setting) {}
};

struct OutputError : Error {
  explicit OutputError(const std::string& message)
      : Error(ErrorKind::output, message, Setting::none) {}
};

/// A defect of this project.
struct InternalError : Error {
  explicit InternalError(const std::string& message)
      : Error(ErrorKind::internal, "internal error: " + message, Setting::none) {}
};

}  // namespace cuszi

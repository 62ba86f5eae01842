#pragma once

#include <stdexcept>
#include <string>

namespace cuszi {

/// What went wrong: a front end tells its user apart what to do about it.
enum class ErrorKind { usage, input, archive, bound, device, output, memory, internal };

/// What an error says should be chosen otherwise, for front ends to name as their users know it.
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

/// Base of every exception of the project. The message is one line that names the offending value
/// and what would be accepted.
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

/// A setting, or a combination of settings, that cannot be honoured.
struct UsageError : Error {
  explicit UsageError(const std::string& message, Setting setting = Setting::none)
      : Error(ErrorKind::usage, message, setting) {}
};

/// An input that cannot be read or whose size does not match its dims.
struct InputError : Error {
  explicit InputError(const std::string& message)
      : Error(ErrorKind::input, message, Setting::none) {}
};

/// An archive that is damaged, truncated, hostile, or not ours.
struct ArchiveError : Error {
  explicit ArchiveError(const std::string& message)
      : Error(ErrorKind::archive, message, Setting::none) {}
};

/// A restored value that is further from the original than the bound allows.
struct BoundError : Error {
  explicit BoundError(const std::string& message)
      : Error(ErrorKind::bound, message, Setting::none) {}
};

/// A device, a driver, a library or memory that is not there.
struct DeviceError : Error {
  explicit DeviceError(const std::string& message, Setting setting = Setting::none)
      : Error(ErrorKind::device, message, setting) {}
};

/// Memory of the host that is not there; the message says how much was asked for.
struct MemoryError : Error {
  explicit MemoryError(const std::string& message, Setting setting = Setting::none)
      : Error(ErrorKind::memory, message, setting) {}
};

/// An output that exists already or cannot be written.
struct OutputError : Error {
  explicit OutputError(const std::string& message)
      : Error(ErrorKind::output, message, Setting::none) {}
};

/// What cannot be unless this project has a defect.
struct InternalError : Error {
  explicit InternalError(const std::string& message)
      : Error(ErrorKind::internal, "internal error: " + message, Setting::none) {}
};

}  // namespace cuszi

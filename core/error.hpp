#pragma once

#include <stdexcept>
#include <string>

namespace cuszi {

/// What the process ends with; documented in the man page, relied upon by batch scripts.
enum class ExitCode : int {
  ok = 0,
  usage = 1,
  input = 2,
  archive = 3,
  bound = 4,
  device = 5,
  output = 6,
};

/// Base of every exception of the project. The message is one line that names the offending value
/// and what would be accepted.
class Error : public std::runtime_error {
 public:
  ExitCode exit_code() const noexcept { return code_; }

 protected:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

 private:
  ExitCode code_;
};

/// An option, or a combination of options, that cannot be honoured.
struct UsageError : Error {
  explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};

/// An input that cannot be read or whose size does not match its dims.
struct InputError : Error {
  explicit InputError(const std::string& message) : Error(ExitCode::input, message) {}
};

/// An archive that is damaged, truncated, hostile, or not ours.
struct ArchiveError : Error {
  explicit ArchiveError(const std::string& message) : Error(ExitCode::archive, message) {}
};

/// A restored value that is further from the original than the bound allows.
struct BoundError : Error {
  explicit BoundError(const std::string& message) : Error(ExitCode::bound, message) {}
};

/// A device, a driver, a library or memory that is not there.
struct DeviceError : Error {
  explicit DeviceError(const std::string& message) : Error(ExitCode::device, message) {}
};

/// An output that exists already or cannot be written.
struct OutputError : Error {
  explicit OutputError(const std::string& message) : Error(ExitCode::output, message) {}
};

}  // namespace cuszi

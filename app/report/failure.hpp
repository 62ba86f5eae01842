#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/exit_code.hpp"
#include "app/cli/json.hpp"
#include "app/cli/options.hpp"
#include "codec/frames/backend_choice.hpp"
#include "codec/io/byte_source.hpp"

namespace cuszi::app {

/// What an exception means to the user.
struct Failure {
  ExitCode code = ExitCode::device;
  std::string message;  ///< one line
};

/// The failure that the exception being handled is. Its message names `subject`, a file, unless
/// that is empty.
Failure failure_of(std::string_view subject);

/// Prints the failure of the exception that is being handled on stderr. Returns the exit code.
ExitCode tell_failure(std::string_view subject) noexcept;

/// How a command reports on its files.
struct FileReports {
  const RunOptions& run;
  const char* kind = "archive";  ///< what the name of a file is in JSON
  bool stdout_has_data = false;  ///< standard output is for data
};

/// Tells a failure on stderr and, if reports are in JSON, in an object: what was `known` of the
/// file, else its name, with "error" and "exit_code".
void tell_failure_of(const std::string& file, const Failure& failure, Json known,
                     const FileReports& reports) noexcept;

/// Tells the user, even if all is to be quiet, that the result is not what was asked for.
void tell_warning(std::string_view line) noexcept;

/// Warns of devices that were given up, if any were.
void tell_losses(const Backends& backends) noexcept;

/// Does `work` for every file, goes on after a failure, which is told, and returns the first
/// failure's code. `work(file, known)` leaves in `known` what there is to report of a file that
/// fails, if there is anything.
template <class Work>
ExitCode for_each_file(const std::vector<std::string>& files, const FileReports& reports,
                       const Work& work) {
  ExitCode result = ExitCode::ok;
  for (const std::string& file : files) {
    Json known;
    try {
      work(file, known);
    } catch (...) {
      const Failure failure = failure_of(input_name(file));
      tell_failure_of(file, failure, std::move(known), reports);
      if (result == ExitCode::ok) result = failure.code;
    }
  }
  return result;
}

}  // namespace cuszi::app

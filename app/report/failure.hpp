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

struct Failure {
  ExitCode code = ExitCode::device;
  std::string message;  ///< one line
};

/// Describes the current exception; `subject` is a file's name or empty.
Failure failure_of(std::string_view subject);

/// Prints the current exception to stderr. Returns the exit code.
ExitCode tell_failure(std::string_view subject) noexcept;

/// Reporting of a command's files.
struct FileReports {
  const RunOptions& run;
  const char* kind = "archive";  ///< key of the file in JSON
  bool stdout_has_data = false;  ///< then reports go to stderr
};

/// To stderr and, for JSON, an object of `known` or the file's name, "error" and "exit_code".
void tell_failure_of(const std::string& file, const Failure& failure, Json known,
                     const FileReports& reports) noexcept;

/// Printed even if quiet.
void tell_warning(std::string_view line) noexcept;

/// Warns of dropped devices.
void tell_losses(const Backends& backends) noexcept;

/// Calls work(file, known) for each file and prints failures. Returns the first one's code. `known`
/// is a failing file's report.
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

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/cli.hpp"
#include "app/cli/json.hpp"
#include "app/cli/options.hpp"
#include "codec/archive/archive_reader.hpp"
#include "codec/frames/backend_choice.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/units.hpp"

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

/// Warns if bytes of the archive's last member were passed over.
void warn_of_unfinished(const ArchiveReader& reader, const std::string& archive) noexcept;

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

/// Sizes and times of a successful input.
struct FileWork {
  ByteCount field_bytes = 0;
  std::optional<ByteCount> archive_bytes;  ///< of a whole field
  std::optional<double> seconds;           ///< of the transfer
};

/// Sums over inputs; failures are only counted.
class Totals {
 public:
  explicit Totals(std::size_t files) : files_(files) {}

  void add(const FileWork& file);

  /// One line for several inputs, unless JSON or quiet.
  void tell(const RunOptions& run) const;

 private:
  std::string text() const;

  std::size_t files_;
  std::size_t good_ = 0;
  FileWork all_{0, 0, 0};
};

}  // namespace cuszi::app

#pragma once

#include <optional>
#include <variant>

#include "app/cli/options.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

/// Documented in the man page; batch scripts rely on it.
enum class ExitCode : int {
  ok = 0,
  usage = 1,
  input = 2,
  archive = 3,
  bound = 4,
  device = 5,
  output = 6,
  internal = 8,  ///< 7 belongs to the library
};

constexpr ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return ExitCode::usage;
    case ErrorKind::input: return ExitCode::input;
    case ErrorKind::archive: return ExitCode::archive;
    case ErrorKind::bound: return ExitCode::bound;
    case ErrorKind::device:
    case ErrorKind::memory: return ExitCode::device;
    case ErrorKind::output: return ExitCode::output;
    case ErrorKind::internal: return ExitCode::internal;
  }
  return ExitCode::device;
}

using Command =
    std::variant<CompressOptions, DecompressOptions, CompareOptions, InspectOptions, TestOptions,
                 ListOptions, BenchOptions, ZfpImportOptions, ZfpExportOptions>;

/// Nullopt after printing help or version. Throws UsageError.
std::optional<Command> parse_command_line(int argc, const char* const* argv);

}  // namespace cuszi::app

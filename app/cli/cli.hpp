#pragma once

#include <optional>
#include <variant>

#include "app/cli/options.hpp"

namespace cuszi::app {

using Command =
    std::variant<CompressOptions, DecompressOptions, CompareOptions, InspectOptions, TestOptions,
                 ListOptions, BenchOptions, ZfpImportOptions, ZfpExportOptions>;

/// Reads the command line. Returns nothing if it asks for help or the version, which is printed.
/// Throws UsageError.
std::optional<Command> parse_command_line(int argc, const char* const* argv);

}  // namespace cuszi::app

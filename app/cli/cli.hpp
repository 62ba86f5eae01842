#pragma once

#include <optional>
#include <variant>

#include "app/cli/options.hpp"

namespace cuszi::app {

using Command =
    std::variant<CompressOptions, DecompressOptions, CompareOptions, InspectOptions, TestOptions,
                 ListOptions, BenchOptions, ZfpImportOptions, ZfpExportOptions>;

/// Nullopt after printing help or version. Throws UsageError.
std::optional<Command> parse_command_line(int argc, const char* const* argv);

}  // namespace cuszi::app

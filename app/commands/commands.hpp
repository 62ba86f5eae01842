#pragma once

#include "app/cli/exit_code.hpp"
#include "app/cli/options.hpp"

namespace cuszi::app {

/// The subcommands. Each prints its reports, tells the failures of single files on stderr, and
/// returns ok or the first failure's code. What concerns no single file is thrown.
ExitCode execute(const CompressOptions& options);
ExitCode execute(const DecompressOptions& options);
ExitCode execute(const CompareOptions& options);
ExitCode execute(const InspectOptions& options);
ExitCode execute(const TestOptions& options);
ExitCode execute(const ListOptions& options);
ExitCode execute(const BenchOptions& options);
ExitCode execute(const ShowOptions& options);
ExitCode execute(const ZfpImportOptions& options);
ExitCode execute(const ZfpExportOptions& options);

}  // namespace cuszi::app

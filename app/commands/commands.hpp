#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/cli.hpp"
#include "app/cli/options.hpp"
#include "codec/frames/backend_choice.hpp"

namespace cuszi::app {

/// Subcommands: print reports and single files' failures, and return ok or the first failure's
/// code. Other failures are thrown.
ExitCode execute(const CompressOptions& options);
ExitCode execute(const DecompressOptions& options);
ExitCode execute(const CompareOptions& options);
ExitCode execute(const InspectOptions& options);
ExitCode execute(const TestOptions& options);
ExitCode execute(const ListOptions& options);
ExitCode execute(const BenchOptions& options);
ExitCode execute(const ZfpImportOptions& options);
ExitCode execute(const ZfpExportOptions& options);

/// Copies a NetCDF or HDF5 file, with f32 and f64 variables compressed by the HDF5 filter, except
/// empty and external ones, and coordinates without their own bound. Reports as execute().
ExitCode copy_file(const CompressOptions& options);

/// The work of compressing all inputs. A variable counts as large as its file; a field that cannot
/// be opened does not count.
Workload compression_of(const CompressOptions& options);

/// The work of restoring all archives, or one frame of each.
Workload restoration_of(const std::vector<std::string>& archives,
                        std::optional<std::uint64_t> frame = {});

/// Chooses for all the work of a command, which is asked for if the choice is automatic. Tells the
/// choice on stderr if verbose. Throws DeviceError.
void choose_device(Backends& backends, const RunOptions& run,
                   const std::function<Workload()>& work_of);

/// The whole program. Prints failures to stderr; returns the exit code.
ExitCode run(int argc, const char* const* argv) noexcept;

}  // namespace cuszi::app

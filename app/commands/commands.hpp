#pragma once

#include <string>

#include "app/cli/exit_code.hpp"
#include "app/cli/json.hpp"
#include "app/cli/options.hpp"

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

/// Measures variants of a coder or index on a field's first frame. Returns rows with the same keys.
/// Throws UsageError for another coder or predictor.
///
/// - Study::huffman: encoding with 32- and 64-bit codewords, merge factors, numbers of symbols
///   (Tian et al., PACT'20, 3.2.2; IPDPS'21, table II).
/// - Study::index: index encodings, chunk sizes, partitions: index size f relative to the rest,
///   ratio R without and R/(1+f) with it, decoding speed on CPU and device (Noordsij 2019, 4.6, 5).
/// - Study::zfp_index: the same for zfp, in blocks; the last row is a fixed-rate stream, which
///   needs no index, of the others' size without theirs.
Json run_study(Study study, const BenchOptions& options, Backends& backends,
               const std::string& input);

/// As text.
std::string table_of(const Json& rows);

/// Copies a NetCDF or HDF5 file, with f32 and f64 variables compressed by the HDF5 filter, except
/// empty and external ones, and coordinates without their own bound. Reports as execute().
ExitCode copy_file(const CompressOptions& options);

/// The whole program. Prints failures to stderr; returns the exit code.
ExitCode run(int argc, const char* const* argv) noexcept;

}  // namespace cuszi::app

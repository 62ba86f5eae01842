#pragma once

#include <string>

#include "app/cli/exit_code.hpp"
#include "app/cli/json.hpp"
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
ExitCode execute(const ZfpImportOptions& options);
ExitCode execute(const ZfpExportOptions& options);

/// Measures a study's variants on the first frame of a field, as a field of its own. Returns rows
/// with the same keys. Throws UsageError if the study is of another coder or predictor.
///
/// - Study::huffman: encoding with codeword units of 32 and 64 bits, merge factors and numbers of
///   symbols (Tian et al., PACT'20, 3.2.2; IPDPS'21, table II).
/// - Study::index: all encodings, chunk sizes and partitions of the side-channel index: its size f
///   over the rest of the archive, the ratio R without and R/(1+f) with it, and the speed of
///   decoding on the CPU and on the device, if there is one (Noordsij 2019, 4.6 and 5).
/// - Study::zfp_index: the same of zfp streams, in blocks; the last row is a stream of fixed rate,
///   which needs no index, of the size that the others have without theirs.
Json run_study(Study study, const BenchOptions& options, Backends& backends,
               const std::string& input);

/// The rows as a table for people.
std::string table_of(const Json& rows);

/// Writes the copy of a file of NetCDF or HDF5, in which the variables of f32 and f64 are
/// compressed by the HDF5 filter. Coordinates are kept as they are unless they have a bound of
/// their own, and so is what has no values or has them in other files. Reports as execute() does.
ExitCode copy_file(const CompressOptions& options);

/// The whole program: reads the command line, does what it says, tells failures on stderr. Returns
/// what the process is to end with; does not throw.
ExitCode run(int argc, const char* const* argv) noexcept;

}  // namespace cuszi::app

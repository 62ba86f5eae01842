#pragma once

#include <string>

#include "app/cli/json.hpp"
#include "app/cli/options.hpp"

namespace cuszi::app {

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

}  // namespace cuszi::app

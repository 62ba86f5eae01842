#pragma once

#include <string>

#include "app/json.hpp"
#include "app/options.hpp"

namespace cuszi::app {

/// Measures a study's variants on the first frame of a field, as a field of its own. Returns rows
/// with the same keys. Throws UsageError if the coder is not Huffman.
///
/// - Study::huffman: encoding with codeword units of 32 and 64 bits, merge factors and numbers of
///   symbols (Tian et al., PACT'20, 3.2.2; IPDPS'21, table II).
/// - Study::index: all encodings, chunk sizes and partitions of the side-channel index: its size f
///   over the rest of the archive, the ratio R without and R/(1+f) with it, and the speed of
///   decoding on the CPU and on the device, if there is one (Noordsij 2019, 4.6 and 5).
Json run_study(Study study, const BenchOptions& options, Backends& backends,
               const std::string& input);

/// The rows as a table for people.
std::string table_of(const Json& rows);

}  // namespace cuszi::app

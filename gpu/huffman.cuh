#pragma once

#include "core/frame.hpp"
#include "core/huffman.hpp"
#include "gpu/codebook.cuh"

namespace cuszi::gpu {

/// The sections of a Huffman stream.
struct HuffmanStream {
  Bytes codebook;
  Bytes index;
  Bytes codes;
};

/// Codes `count` symbols by a code that has arrived: in-register reduction of a thread's codewords,
/// shuffled prefix sums, and merging in shared memory (Tian et al., IPDPS'21, IV-C), in one pass.
/// Throws UsageError if a codeword does not fit the width.
HuffmanStream huffman_encode(Work& work, const HuffmanParams& params, const HuffmanTuning& tuning,
                             const QuantCode* symbols, std::uint64_t count,
                             const DeviceCodebook& book);

/// The inverse, all chunks at once. Damage that kernels find becomes a flaw; throws ArchiveError
/// for the rest.
void huffman_decode(Work& work, const HuffmanParams& params, const Sections& sections,
                    QuantCode* symbols, std::uint64_t count);

}  // namespace cuszi::gpu

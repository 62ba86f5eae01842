#pragma once

#include "core/frame.hpp"
#include "core/huffman.hpp"
#include "gpu/work.hpp"

namespace cuszi::gpu {

/// The sections of a Huffman stream.
struct HuffmanStream {
  Bytes codebook;
  Bytes index;
  Bytes codes;
};

/// How often each of `bins` symbols occurs. Waits for the result.
std::vector<std::uint64_t> histogram_of(Work& work, const QuantCode* symbols, std::uint64_t count,
                                        std::uint32_t bins);

/// Codes `count` symbols below `bins`: in-register reduction of 8 codewords a thread, shuffled
/// prefix sums, and merging in shared memory (Tian et al., IPDPS'21, IV-C), in one pass. Throws
/// UsageError if a codeword does not fit `width`.
HuffmanStream huffman_encode(Work& work, const HuffmanParams& params, HuffmanWidth width,
                             const QuantCode* symbols, std::uint64_t count, std::uint32_t bins);

/// The inverse, all chunks at once. Damage that kernels find becomes a flaw; throws ArchiveError
/// for the rest.
void huffman_decode(Work& work, const HuffmanParams& params, const Sections& sections,
                    QuantCode* symbols, std::uint64_t count);

}  // namespace cuszi::gpu

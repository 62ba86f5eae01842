#pragma once

#include <span>
#include <vector>

#include "core/coders/huffman.hpp"

namespace cuszi::cpu {

/// The sections that Huffman coding makes of a string of quant-codes.
struct HuffmanStream {
  std::vector<std::byte> codebook;
  std::vector<std::byte> index;
  std::vector<std::byte> codes;
};

/// Codes `symbols` chunk by chunk. The result does not depend on the number of threads. Throws
/// UsageError if a codeword does not fit `width`.
HuffmanStream huffman_encode(const HuffmanParams& params, HuffmanWidth width,
                             std::span<const QuantCode> symbols);

/// Decodes a stream of huffman_encode() into `symbols`, which it fills. Throws ArchiveError.
void huffman_decode(const HuffmanParams& params, Bytes codebook, Bytes index, Bytes codes,
                    std::span<QuantCode> symbols);

}  // namespace cuszi::cpu

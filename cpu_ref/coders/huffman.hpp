#pragma once

#include <span>
#include <vector>

#include "core/coders/huffman.hpp"

namespace cuszi::cpu {

struct HuffmanStream {
  std::vector<std::byte> codebook;
  std::vector<std::byte> index;
  std::vector<std::byte> codes;
};

/// Independent of the number of threads. Throws UsageError if a codeword does not fit `width`.
HuffmanStream huffman_encode(const HuffmanParams& params, HuffmanWidth width,
                             std::span<const QuantCode> symbols);

/// Fills `symbols`. Throws ArchiveError.
void huffman_decode(const HuffmanParams& params, Bytes codebook, Bytes index, Bytes codes,
                    std::span<QuantCode> symbols);

}  // namespace cuszi::cpu

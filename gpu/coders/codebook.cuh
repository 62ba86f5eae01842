#pragma once

#include <cstdint>

#include "core/coders/huffman.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// A codeword with its length in the low bits, so that adding units adds lengths; too_long if it
/// does not fit.
struct ShortUnit {
  static constexpr int length_bits = 10;
  static constexpr int most_bits = 32 - length_bits;
  static constexpr std::uint32_t too_long = 64;

  static CUSZI_HD std::uint32_t pack(std::uint64_t code, int length) {
    if (length > most_bits) return too_long;
    return (static_cast<std::uint32_t>(code) << length_bits) | static_cast<std::uint32_t>(length);
  }
  static CUSZI_HD int length(std::uint32_t sum) {
    return static_cast<int>(sum & ((1U << length_bits) - 1));
  }
  static CUSZI_HD std::uint32_t code(std::uint32_t unit) { return unit >> length_bits; }
};

struct DeviceCodebook {
  using Unit = Codeword<std::uint64_t>;

  std::uint32_t symbols;
  std::uint64_t* units;        ///< on the device; 0 for absent symbols
  std::uint32_t* short_units;  ///< likewise

  // In pinned memory, valid after the next sync().
  const std::uint8_t* lengths;
  const BitCount* total;         ///< of all occurrences, in bits
  const std::uint32_t* longest;  ///< above max_code_length there are no units
};

/// core's code_lengths() by parallel merging (Tian et al., IPDPS'21, III). At most 65536 symbols,
/// counts below 2^48 in all.
DeviceCodebook make_codebook(DeviceContext& gpu, const std::uint64_t* histogram,
                             std::uint32_t symbols);

}  // namespace cuszi::gpu

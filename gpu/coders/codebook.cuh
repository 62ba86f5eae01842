#pragma once

#include <cstdint>

#include "core/coders/huffman.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// A codeword in half a register: its length in the low bits, its code above. Adding two units adds
/// their lengths. A codeword that does not fit has a length that no register holds.
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

/// The codewords of all symbols of a coder.
struct DeviceCodebook {
  using Unit = Codeword<std::uint64_t>;

  std::uint32_t symbols;
  std::uint64_t* units;        ///< on the device, 0 for symbols that do not occur
  std::uint32_t* short_units;  ///< likewise

  // In page-locked memory; they have arrived after the next sync().
  const std::uint8_t* lengths;
  const BitCount* total;         ///< of all occurrences
  const std::uint32_t* longest;  ///< above max_code_length there are no units
};

/// Makes the code of a histogram on the device, of at most 65536 symbols that occur less than 2^48
/// times in all: the lengths of core's code_lengths(), by merging all nodes at once that are no
/// heavier than the next inner node (parallel codebook construction: Tian et al., IPDPS'21, III).
DeviceCodebook make_codebook(DeviceContext& gpu, const std::uint64_t* histogram,
                             std::uint32_t symbols);

}  // namespace cuszi::gpu

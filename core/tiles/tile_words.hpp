#pragma once

#include <cstdint>

#include "core/base/bit_width.hpp"
#include "core/base/dtype.hpp"
#include "core/base/hd.hpp"
#include "core/tiles/tiles.hpp"

namespace cuszi {

/// Whether tiles code values of this type without loss: those of 32 bits.
constexpr bool has_tile_words(DType dtype) { return size_of(dtype) == 4; }

/// Between the bits of values and words: integers whose order, if signed, is that of the values.
struct TileWordMap {
  std::uint32_t flip = 0;  ///< of negative values: all bits but the sign of floating types

  explicit TileWordMap(DType dtype) : flip(is_integer(dtype) ? 0 : 0x7FFFFFFFU) {}

  CUSZI_HD static constexpr std::uint32_t shifted(std::uint32_t word, std::uint32_t shift) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(word) >> shift);
  }
  CUSZI_HD constexpr std::uint32_t flipped(std::uint32_t bits) const {
    return bits ^ (shifted(bits, 31) & flip);
  }

  /// Without the low bits that are 0 in all values of a tile.
  CUSZI_HD constexpr std::uint32_t word_of(std::uint32_t bits, std::uint32_t zeros) const {
    return shifted(flipped(bits), zeros);
  }
  CUSZI_HD constexpr std::uint32_t bits_of(std::uint32_t word, std::uint32_t zeros) const {
    return flipped(word << zeros) >> zeros << zeros;
  }
};

/// How many low bits are 0, given the OR of a tile's bits.
CUSZI_HD inline std::uint32_t low_zeros_of(std::uint32_t any) {
  return any == 0 ? 0 : bit_width_of(any & (0 - any)) - 1;
}

/// What the base of a tile of words holds: the zigzag of the first point's word above its zeros.
struct TileWordBase {
  static constexpr int zero_bits = 5;

  std::uint32_t first = 0;
  std::uint32_t zeros = 0;

  CUSZI_HD constexpr std::uint64_t word() const {
    return std::uint64_t{zigzag32(first)} << zero_bits | zeros;
  }
  CUSZI_HD static constexpr TileWordBase from(std::uint64_t word) {
    return {unzigzag32(static_cast<std::uint32_t>(word >> zero_bits)),
            static_cast<std::uint32_t>(word) & ((1U << zero_bits) - 1)};
  }
};

}  // namespace cuszi

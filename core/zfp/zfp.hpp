#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "core/base/dims.hpp"
#include "core/base/hd.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// What a zfp stream is cut by, in the terms of zfp's expert mode: blocks of 4^rank values take at
/// least `min_bits` and at most `max_bits`, of at most `max_precision` bit planes, none of a weight
/// below 2^min_exponent (before the transform's gain). Reversible is a lower exponent than any.
struct ZfpParams {
  static constexpr std::uint32_t most_bits = 16658;  ///< that a block can take
  static constexpr std::uint32_t most_planes = 64;
  static constexpr std::int32_t least_exponent = -1074;

  std::uint32_t min_bits = 1;
  std::uint32_t max_bits = most_bits;
  std::uint32_t max_precision = most_planes;
  std::int32_t min_exponent = least_exponent;

  /// No value is wrong by more than the power of two at or below `tolerance`, as far as fixed-point
  /// arithmetic allows; tolerance 0 keeps all planes.
  static ZfpParams accuracy(double tolerance);
  /// Every block keeps its first `planes` planes, 1 to 64.
  static ZfpParams precision(std::uint32_t planes);
  /// Every block of 4^rank values takes round(rate 4^rank) bits, but never less than the exponent.
  static ZfpParams rate(double bits_per_value, int rank, std::uint32_t exponent_bits);
  /// Every value comes back bit for bit.
  static ZfpParams reversible();

  CUSZI_HD constexpr bool is_reversible() const { return min_exponent < least_exponent; }
  /// Whether all blocks take the same number of bits, so that no index is needed.
  CUSZI_HD constexpr bool has_fixed_rate() const { return min_bits == max_bits; }

  friend bool operator==(const ZfpParams&, const ZfpParams&) = default;
};

/// What zfp makes of a type of values.
template <class T>
struct ZfpType {
  using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using UInt = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  static constexpr bool is_float = std::is_floating_point_v<T>;
  static constexpr int bits = 8 * sizeof(T);
  static constexpr int exponent_bits = is_float ? (sizeof(T) == 4 ? 8 : 11) : 0;
  static constexpr int exponent_bias = sizeof(T) == 4 ? 127 : 1023;
  static constexpr int precision_bits = sizeof(T) == 4 ? 5 : 6;  ///< of a reversible block's head
  static constexpr UInt negabinary = static_cast<UInt>(0xAAAAAAAAAAAAAAAAULL);

  /// Bits in front of a block's planes, at most.
  static constexpr int head_bits(bool reversible) {
    const int exponent = is_float ? 1 + exponent_bits : 0;
    return reversible ? exponent + (is_float ? 1 : 0) + precision_bits : exponent;
  }
};

/// The values of a block.
CUSZI_HD constexpr int zfp_block_values(int rank) { return 1 << (2 * rank); }

/// Whether streams of these parameters can be written and read: min_bits <= max_bits <= most_bits,
/// 1 to 64 planes, room for a block's head, and nothing but the defaults beside a reversible
/// exponent. What is wrong, or nothing.
std::optional<std::string> zfp_fault(const ZfpParams& params, int head_bits);

/// The most bits that a block takes where max_bits does not cut it off.
template <class T>
constexpr BitCount zfp_uncut_block_bits(const ZfpParams& params, int rank) {
  const auto values = static_cast<BitCount>(zfp_block_values(rank));
  constexpr BitCount type_planes = ZfpType<T>::bits;
  const BitCount planes =
      params.max_precision < type_planes ? BitCount{params.max_precision} : type_planes;
  return static_cast<BitCount>(ZfpType<T>::head_bits(params.is_reversible())) + values * planes +
         values - 1;
}

/// Whether blocks may be cut off, so that what they are decoded to is known from their bits alone.
template <class T>
constexpr bool zfp_cuts_blocks(const ZfpParams& params, int rank) {
  return zfp_uncut_block_bits<T>(params, rank) > params.max_bits;
}

/// The most bits that a block can take.
template <class T>
constexpr BitCount zfp_most_block_bits(const ZfpParams& params, int rank) {
  const BitCount uncut = zfp_uncut_block_bits<T>(params, rank);
  const BitCount capped = uncut < params.max_bits ? uncut : BitCount{params.max_bits};
  return capped > params.min_bits ? capped : BitCount{params.min_bits};
}

/// A stream ends with a whole word of 64 bits.
constexpr ByteCount zfp_stream_bytes(BitCount bits) { return ceil_div(bits, 64) * 8; }

}  // namespace cuszi

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "core/base/dims.hpp"
#include "core/base/hd.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// zfp's expert mode. A block of 4^rank values takes `min_bits` to `max_bits` bits, at most
/// `max_precision` bit planes, none of weight below 2^min_exponent. A min_exponent below
/// least_exponent means reversible.
struct ZfpParams {
  static constexpr std::uint32_t most_bits = 16658;  ///< of any block
  static constexpr std::uint32_t most_planes = 64;
  static constexpr std::int32_t least_exponent = -1074;

  std::uint32_t min_bits = 1;
  std::uint32_t max_bits = most_bits;
  std::uint32_t max_precision = most_planes;
  std::int32_t min_exponent = least_exponent;

  /// Errors up to the largest power of two within `tolerance`; 0 codes all planes.
  static ZfpParams accuracy(double tolerance);
  /// The first `planes` (1 to 64) of each block.
  static ZfpParams precision(std::uint32_t planes);
  /// round(rate 4^rank) bits per block, at least its head.
  static ZfpParams rate(double bits_per_value, int rank, std::uint32_t exponent_bits);
  static ZfpParams reversible();

  CUSZI_HD constexpr bool is_reversible() const { return min_exponent < least_exponent; }
  /// Blocks of one size need no index.
  CUSZI_HD constexpr bool has_fixed_rate() const { return min_bits == max_bits; }

  friend bool operator==(const ZfpParams&, const ZfpParams&) = default;
};

template <class T>
struct ZfpType {
  using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using UInt = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  static constexpr bool is_float = std::is_floating_point_v<T>;
  static constexpr int bits = 8 * sizeof(T);
  static constexpr int exponent_bits = is_float ? (sizeof(T) == 4 ? 8 : 11) : 0;
  static constexpr int exponent_bias = sizeof(T) == 4 ? 127 : 1023;
  static constexpr int precision_bits = sizeof(T) == 4 ? 5 : 6;
  static constexpr UInt negabinary = static_cast<UInt>(0xAAAAAAAAAAAAAAAAULL);

  /// Upper limit of the bits before a block's planes.
  static constexpr int head_bits(bool reversible) {
    const int exponent = is_float ? 1 + exponent_bits : 0;
    return reversible ? exponent + (is_float ? 1 : 0) + precision_bits : exponent;
  }
};

CUSZI_HD constexpr int zfp_block_values(int rank) { return 1 << (2 * rank); }

/// Describes what is invalid, if anything. Valid: min_bits <= max_bits <= most_bits, 1 to 64
/// planes, max_bits for a block's head, and only defaults if reversible.
std::optional<std::string> zfp_fault(const ZfpParams& params, int head_bits);

template <class T>
constexpr BitCount zfp_uncut_block_bits(const ZfpParams& params, int rank) {
  const auto values = static_cast<BitCount>(zfp_block_values(rank));
  constexpr BitCount type_planes = ZfpType<T>::bits;
  const BitCount planes =
      params.max_precision < type_planes ? BitCount{params.max_precision} : type_planes;
  return static_cast<BitCount>(ZfpType<T>::head_bits(params.is_reversible())) + values * planes +
         values - 1;
}

/// Whether max_bits may truncate blocks; then only their bits determine the decoded values.
template <class T>
constexpr bool zfp_cuts_blocks(const ZfpParams& params, int rank) {
  return zfp_uncut_block_bits<T>(params, rank) > params.max_bits;
}

template <class T>
constexpr BitCount zfp_most_block_bits(const ZfpParams& params, int rank) {
  const BitCount uncut = zfp_uncut_block_bits<T>(params, rank);
  const BitCount capped = uncut < params.max_bits ? uncut : BitCount{params.max_bits};
  return capped > params.min_bits ? capped : BitCount{params.min_bits};
}

/// Streams are padded to 64-bit words.
constexpr ByteCount zfp_stream_bytes(BitCount bits) { return ceil_div(bits, 64) * 8; }

}  // namespace cuszi

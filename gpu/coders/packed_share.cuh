#pragma once

#include "core/coders/ans_slots.hpp"

namespace cuszi::gpu {

/// A token's frequency and first, packed, with the frequency's reciprocal.
struct PackedShare {
  std::uint32_t frequency_and_first = 0;  ///< first in the upper half; 0: absent
  std::uint32_t reciprocal = 0;

  CUSZI_HD static PackedShare of(const TokenShare& share) {
    if (share.frequency == 0) return {};
    const std::uint64_t reciprocal = (std::uint64_t{1} << 32) / share.frequency;
    return {share.frequency | share.first << 16,
            static_cast<std::uint32_t>(reciprocal - (reciprocal >> 32))};
  }

  CUSZI_HD std::uint32_t frequency() const { return frequency_and_first & 0xFFFFU; }

  /// put_token() without a division; the estimated quotient is at most 1 too small.
  CUSZI_HD std::uint32_t put(std::uint32_t state) const {
    auto quotient = static_cast<std::uint32_t>((std::uint64_t{state} * reciprocal) >> 32);
    std::uint32_t rest = state - quotient * frequency();
    if (rest >= frequency()) {
      ++quotient;
      rest -= frequency();
    }
    return (quotient << probability_bits) + rest + (frequency_and_first >> 16);
  }
};

}  // namespace cuszi::gpu

#pragma once

#include <bit>
#include <cstdint>

#include "gpu/runtime/bytes.cuh"

namespace cuszi::gpu {

/// Byte selectors that compact nonzero bytes of eight; above, the bits of the first four's and of
/// all.
struct alignas(8) Gather {
  std::uint32_t low;
  std::uint32_t high;
};
struct Gathers {
  Gather by_flags[256];

  static constexpr std::uint32_t selector(unsigned flags) {
    std::uint32_t select = 0x4444;  // byte 4 is zero
    unsigned rank = 0;
    for (unsigned byte = 0; byte < 4; ++byte)
      if (((flags >> byte) & 1) != 0) select ^= (4 ^ byte) << (4 * rank++);
    return select;
  }
  static constexpr Gathers all() {
    Gathers gathers{};
    for (unsigned flags = 0; flags < 256; ++flags) {
      const auto bits = [&](unsigned some) {
        return static_cast<std::uint32_t>(8 * std::popcount(some)) << 16;
      };
      gathers.by_flags[flags] = {selector(flags % 16) | bits(flags % 16),
                                 selector(flags / 16) | bits(flags)};
    }
    return gathers;
  }
};
__device__ constexpr Gathers gathers = Gathers::all();

/// Initially zero, so that lanes can share words.
class ByteSink {
 public:
  __device__ ByteSink(std::uint32_t* words, std::uint32_t at) : words_(words), at_(at) {}

  __device__ void put_byte(std::uint32_t place, std::uint32_t byte) const {
    const std::uint32_t at = at_ + place;
    set_bits(words_ + at / 4, byte << (8 * (at % 4)));
  }
  /// Puts up to eight bytes; higher ones must be zero.
  __device__ void put(std::uint32_t place, std::uint32_t low, std::uint32_t high = 0) const {
    const std::uint32_t at = at_ + place;
    const std::uint32_t shift = 8 * (at % 4);
    std::uint32_t* const to = words_ + at / 4;
    set_bits(to, low << shift);
    set_bits(to + 1, __funnelshift_l(low, high, shift));
    set_bits(to + 2, __funnelshift_l(high, 0, shift));
  }
  __device__ void put_value(std::uint32_t place, std::uint64_t value) const {
    put(place, static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32));
  }
  __device__ void skip(std::uint32_t bytes) { at_ += bytes; }

  static constexpr unsigned writes_beyond = 2;  ///< words, without bits

 private:
  std::uint32_t* words_;
  std::uint32_t at_;
};

}  // namespace cuszi::gpu

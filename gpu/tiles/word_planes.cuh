#pragma once

#include "core/base/bit_width.hpp"
#include "gpu/tiles/tile_pairs.cuh"

namespace cuszi::gpu {

/// Bit planes of 32 points, a bit each; byte g has the points of group g.
using PlaneWords = std::uint32_t[32];

/// Exchanges the bits of two words that are `distance` apart, for transposition.
template <int distance>
__device__ void exchange_bits(std::uint32_t& low, std::uint32_t& high) {
  constexpr std::uint32_t kept = distance == 1   ? 0x55555555U
                                 : distance == 2 ? 0x33333333U
                                                 : 0x0F0F0F0FU;
  const std::uint32_t moved = ((low >> distance) ^ high) & kept;
  high ^= moved;
  low ^= moved << distance;
}

/// Transposes 8 x 8 bits of eight words, in each byte.
__device__ inline void transpose_in_bytes(std::uint32_t* words) {
#pragma unroll
  for (int i = 0; i < 8; i += 2) exchange_bits<1>(words[i], words[i + 1]);
#pragma unroll
  for (int i = 0; i < 8; ++i)
    if (i % 4 < 2) exchange_bits<2>(words[i], words[i + 2]);
#pragma unroll
  for (int i = 0; i < 4; ++i) exchange_bits<4>(words[i], words[i + 4]);
}

/// Transposes the bytes of words that are 8 apart.
__device__ inline void transpose_bytes(PlaneWords& words) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t even_low = __byte_perm(words[i], words[i + 8], 0x5140);
    const std::uint32_t even_high = __byte_perm(words[i + 16], words[i + 24], 0x5140);
    const std::uint32_t odd_low = __byte_perm(words[i], words[i + 8], 0x7362);
    const std::uint32_t odd_high = __byte_perm(words[i + 16], words[i + 24], 0x7362);
    words[i] = __byte_perm(even_low, even_high, 0x5410);
    words[i + 8] = __byte_perm(even_low, even_high, 0x7632);
    words[i + 16] = __byte_perm(odd_low, odd_high, 0x5410);
    words[i + 24] = __byte_perm(odd_low, odd_high, 0x7632);
  }
}

/// Between 32 integers, eight of each group, and their planes; its own inverse.
__device__ inline void transpose_points(PlaneWords& words) {
  transpose_bytes(words);
#pragma unroll
  for (int slice = 0; slice < 32; slice += 8) transpose_in_bytes(words + slice);
}
__device__ inline void transpose_planes(PlaneWords& words) {
#pragma unroll
  for (int slice = 0; slice < 32; slice += 8) transpose_in_bytes(words + slice);
  transpose_bytes(words);
}

/// Flags of a lane's nonzero bytes: byte k of word j is that of pair 4 k + j.
struct WordUnions {
  std::uint32_t words[4];  ///< of groups, until order_by_pair()

  __device__ std::uint32_t count() const {
    return static_cast<unsigned>(__popc(words[0]) + __popc(words[1]) + __popc(words[2]) +
                                 __popc(words[3]));
  }
  __device__ std::uint32_t all() const { return words[0] | words[1] | words[2] | words[3]; }
  __device__ static std::uint32_t pairs_of(std::uint32_t integers) {
    return (bit_width_of(integers) + 1) / 2;
  }
  /// Transposes 4 x 4 double bits of four words.
  __device__ void order_by_pair() {
    exchange_bits<2>(words[0], words[1]);
    exchange_bits<2>(words[2], words[3]);
    exchange_bits<4>(words[0], words[2]);
    exchange_bits<4>(words[1], words[3]);
  }
  __device__ std::uint32_t flags(std::uint32_t pair) const {
    return words[pair % 4] >> (8 * (pair / 4)) & 255;
  }
  /// Without the lowest `pair` pairs.
  __device__ std::uint32_t count_from(std::uint32_t pair) const {
    std::uint32_t count = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t left_out = (pair + 3 - i) / 4;
      count += left_out > 3 ? 0 : static_cast<unsigned>(__popc(words[i] >> (8 * left_out)));
    }
    return count;
  }
  /// Calls f(pair, flags).
  template <class F>
  __device__ void for_each_pair(std::uint32_t pairs, const F& f) const {
#pragma unroll
    for (std::uint32_t pair = 0; pair < TileHead::max_pairs; ++pair) {
      if (pair >= pairs) break;
      f(pair, flags(pair));
    }
  }
};

}  // namespace cuszi::gpu

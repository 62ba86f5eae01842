#pragma once

#include "core/lossless/word_grid.hpp"
#include "core/lossless/word_map.hpp"
#include "core/lossless/word_tokens.hpp"

namespace cuszi::gpu {

/// A point in a block or box.
struct Point3 {
  std::uint32_t z;
  std::uint32_t y;
  std::uint32_t x;
};
/// The i-th point of a whole block.
template <int rank>
__device__ inline Point3 point_of_block(unsigned i) {
  if constexpr (rank == 1) return {0, 0, i};
  if constexpr (rank == 2) return {0, i / 8, i % 8};
  return {i / 16, i / 4 % 4, i % 4};
}

/// Four lanes have a block, each 16 successive points.
inline constexpr unsigned lanes_of_block = 4;
inline constexpr unsigned points_of_lane = word_block / lanes_of_block;
inline constexpr unsigned blocks_of_warp = 32 / lanes_of_block;

/// Which part of which block a lane has; lanes of a block are `distance` apart.
template <unsigned distance>
struct LanesOfBlock {
  static constexpr unsigned step = distance;

  unsigned block = distance == 1 ? threadIdx.x % 32 / lanes_of_block : threadIdx.x % distance;
  unsigned part = threadIdx.x % 32 / distance % lanes_of_block;

  struct Scan {
    std::uint32_t before;
    std::uint32_t all;
  };
  /// Sums over the parts of a block.
  __device__ Scan scan(std::uint32_t own) const {
    std::uint32_t end = own;
    CUSZI_UNROLL
    for (unsigned i = 1; i < lanes_of_block; i *= 2) {
      const std::uint32_t before = __shfl_up_sync(~0U, end, i * step);
      if (part >= i) end += before;
    }
    const unsigned last = threadIdx.x % 32 + (lanes_of_block - 1 - part) * step;
    return {end - own, __shfl_sync(~0U, end, static_cast<int>(last))};
  }
  __device__ std::uint64_t sum(std::uint64_t own) const {
    CUSZI_UNROLL
    for (unsigned i = 1; i < lanes_of_block; i *= 2) own += __shfl_xor_sync(~0U, own, i * step);
    return own;
  }
};
static_assert(lanes_of_block * 8 == 32);

/// The class of a block, in all of its lanes, from their words, which are 0 where there is no
/// point.
template <class Word, class Lanes>
__device__ inline std::uint32_t class_of_lanes(const Word (&words)[points_of_lane],
                                               const Lanes& lanes) {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  CUSZI_UNROLL
  for (const Word word : words) {
    const Word magnitude = magnitude_of_word(word);
    low += static_cast<std::uint32_t>(magnitude);
    if constexpr (sizeof(Word) == 8) high += magnitude >> 32;
  }
  ClassSum sum;
  sum.add(lanes.sum(low));
  if constexpr (sizeof(Word) == 8) sum.add_high(lanes.sum(high));
  return sum.class_of_block();
}

}  // namespace cuszi::gpu

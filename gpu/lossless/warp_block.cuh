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

/// The sum of two numbers of each lane, in all of them.
__device__ inline std::uint64_t warp_sum(std::uint32_t one, std::uint32_t other) {
  const std::uint32_t low = __reduce_add_sync(~0U, (one & 0xFFFFU) + (other & 0xFFFFU));
  const std::uint32_t high = __reduce_add_sync(~0U, (one >> 16) + (other >> 16));
  return low + (std::uint64_t{high} << 16);
}

struct BlockSummary {
  std::uint32_t number;  ///< class
  std::uint32_t raw_bits;
};

/// The class and the raw bits of a block of which each lane has two words, 0 where there is none.
/// Calls count(class, token) for its points.
template <class Word, class Count>
__device__ inline BlockSummary summarise_block(const Word (&words)[2], const bool (&exists)[2],
                                               const Count& count) {
  const Word magnitudes[2] = {magnitude_of_word(words[0]), magnitude_of_word(words[1])};
  ClassSum sum;
  sum.add(warp_sum(static_cast<std::uint32_t>(magnitudes[0]),
                   static_cast<std::uint32_t>(magnitudes[1])));
  if constexpr (sizeof(Word) == 8)
    sum.add_high(warp_sum(static_cast<std::uint32_t>(magnitudes[0] >> 32),
                          static_cast<std::uint32_t>(magnitudes[1] >> 32)));
  const std::uint32_t number = sum.class_of_block();
  if (number == 0) return {0, 0};
  std::uint32_t raw_bits = 0;
  CUSZI_UNROLL
  for (int i = 0; i < 2; ++i) {
    if (!exists[i]) continue;
    const WordToken token =
        token_of_word(magnitudes[i], is_negative(words[i]), octave_of_class(number));
    raw_bits += token.raw_bits;
    count(number, token.token);
  }
  return {number, __reduce_add_sync(~0U, raw_bits)};
}

}  // namespace cuszi::gpu

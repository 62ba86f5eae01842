#pragma once

#include "core/field/point_bits.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

/// A bit vector with a rank directory. Values of its points lie in arrays by rank.
struct RankedBits {
  static constexpr std::uint64_t block_points = std::uint64_t{1} << 16;
  static constexpr std::uint64_t block_words = block_points / 64;

  std::uint64_t* words = nullptr;          ///< whole blocks
  std::uint16_t* rank_in_block = nullptr;  ///< by word
  std::uint64_t* rank_of_block = nullptr;  ///< by block, then the total
  std::uint64_t blocks = 0;

  __device__ bool test(std::uint64_t point) const {
    return ((words[point / 64] >> (point % 64)) & 1) != 0;
  }

  __device__ std::uint64_t rank_of_word(std::uint64_t word) const {
    return rank_of_block[word / block_words] + rank_in_block[word];
  }

  __device__ std::uint64_t rank(std::uint64_t point) const {
    const std::uint64_t below = (std::uint64_t{1} << (point % 64)) - 1;
    return rank_of_word(point / 64) +
           static_cast<unsigned>(__popcll(static_cast<long long>(words[point / 64] & below)));
  }

  __device__ void set(std::uint64_t point) const {
    atomicOr(reinterpret_cast<std::uint32_t*>(words) + point / 32, 1U << (point % 32));
  }
};

/// Empty; ranks are not valid yet.
RankedBits make_bits(DeviceContext& gpu, std::uint64_t points);
/// Uninitialised.
RankedBits take_bits(DeviceContext& gpu, std::uint64_t points);
void rank_bits(DeviceContext& gpu, const RankedBits& bits);

/// out[i] = counts[0] + ... + counts[i - 1], for i = 0 .. count.
void exclusive_sums(DeviceContext& gpu, const std::uint32_t* counts, std::uint64_t count,
                    std::uint64_t* out);

/// A thread handles its word; in dense warps, all lanes handle one word after the other, for
/// coalesced access.
template <class Each>
__global__ void for_each_bit_kernel(RankedBits bits, Each each) {
  constexpr unsigned many = 4;                     // bits per word on average
  const std::uint64_t word = ItemPolicy::first();  // whole warps: blocks of words are larger
  std::uint64_t rest = bits.words[word];
  const unsigned of_warp =
      __reduce_add_sync(~0U, static_cast<unsigned>(__popcll(static_cast<long long>(rest))));
  if (of_warp == 0) return;
  std::uint64_t rank = bits.rank_of_word(word);
  if (of_warp <= 32 * many) {
    for (; rest != 0; rest &= rest - 1, ++rank) {
      each(word * 64 + static_cast<unsigned>(__ffsll(static_cast<long long>(rest)) - 1), rank);
    }
    return;
  }
  const unsigned lane = threadIdx.x % 32;
  for (unsigned from = 0; from < 32; ++from) {
    const std::uint64_t shared = __shfl_sync(~0U, rest, static_cast<int>(from));
    const std::uint64_t first_rank = __shfl_sync(~0U, rank, static_cast<int>(from));
    for (unsigned bit = lane; bit < 64; bit += 32) {
      if ((shared >> bit & 1) == 0) continue;
      const std::uint64_t below = shared & ((std::uint64_t{1} << bit) - 1);
      each((word - lane + from) * 64 + bit,
           first_rank + static_cast<unsigned>(__popcll(static_cast<long long>(below))));
    }
  }
}

template <class Each>
void for_each_bit(DeviceContext& gpu, const RankedBits& bits, const Each& each) {
  launch_items(gpu, "for_each_bit", bits.blocks * RankedBits::block_words,
               for_each_bit_kernel<Each>, bits, each);
}

/// `words`, on the device, must be zero-padded. Synchronises three times.
PointBits coded_form(DeviceContext& gpu, const std::uint64_t* words, const Dims& dims);

/// Writes all bits to `words`, which must be zeroed, on the device. Sets a flaw if a position is
/// out of range.
void expand_bits(DeviceContext& gpu, const PointBits& bits, const Dims& dims, std::uint64_t* words);

}  // namespace cuszi::gpu

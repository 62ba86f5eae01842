#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/bytes.hpp"
#include "gpu/runtime/bytes.cuh"

namespace cuszi::gpu {

// XXH64 (Yann Collet), seed 0.
inline constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87U;
inline constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4FU;
inline constexpr std::uint64_t prime3 = 0x165667B19E3779F9U;
inline constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63U;
inline constexpr std::uint64_t prime5 = 0x27D4EB2F165667C5U;

inline constexpr unsigned hash_lanes = 4;  ///< accumulators of a hash, one thread each
inline constexpr unsigned hash_stripe = hash_lanes * sizeof(std::uint64_t);

__device__ inline std::uint64_t rotated(std::uint64_t x, int bits) {
  return (x << bits) | (x >> (64 - bits));
}

__device__ inline std::uint64_t round_of(std::uint64_t accumulator, std::uint64_t input) {
  return rotated(accumulator + input * prime2, 31) * prime1;
}

/// Words of stripes from unaligned strings, where 8 bytes of a stripe end in the next lane's word.
template <bool aligned>
class StripeWords {
 public:
  static constexpr unsigned few = 32;  ///< stripes at once

  __device__ StripeWords(const std::byte* bytes, unsigned lane)
      : words_(reinterpret_cast<const std::uint64_t*>(bytes -
                                                      reinterpret_cast<std::uintptr_t>(bytes) % 8) +
               lane),
        shift_(8 * static_cast<int>(reinterpret_cast<std::uintptr_t>(bytes) % 8)),
        lane_(lane),
        group_(0xFU << (threadIdx.x % 32 & ~3U)) {}

  __device__ void load() {
#pragma unroll
    for (unsigned i = 0; i < few; ++i) next_[i] = words_[i * hash_lanes];
    if (!aligned) last_ = lane_ == 0 ? words_[few * hash_lanes] : 0;
    words_ += few * hash_lanes;
  }
  /// Returns the loaded stripes.
  __device__ void take(std::uint64_t (&input)[few]) const {
#pragma unroll
    for (unsigned i = 0; i < few; ++i)
      input[i] = aligned ? next_[i] : joined(next_[i], i + 1 < few ? next_[i + 1] : last_);
  }
  __device__ std::uint64_t take_one() {
    const std::uint64_t first = words_[0];
    const std::uint64_t result = aligned ? first : (first >> shift_) | (words_[1] << (64 - shift_));
    words_ += hash_lanes;
    return result;
  }

 private:
  /// `behind`: the lane's word of the next stripe.
  __device__ std::uint64_t joined(std::uint64_t word, std::uint64_t behind) const {
    const std::uint64_t shown = lane_ == 0 ? behind : word;
    const std::uint64_t rest = __shfl_sync(group_, shown, (lane_ + 1) % hash_lanes, hash_lanes);
    return (word >> shift_) | (rest << (64 - shift_));
  }

  const std::uint64_t* words_;
  int shift_;
  unsigned lane_;
  unsigned group_;
  std::uint64_t next_[few];
  std::uint64_t last_;
};

/// Accumulates all stripes; loads are one batch ahead.
template <bool aligned>
__device__ std::uint64_t add_stripes(std::uint64_t sum, const std::byte* bytes, unsigned lane,
                                     unsigned stripes) {
  using Words = StripeWords<aligned>;
  constexpr unsigned few = Words::few;
  Words words(bytes, lane);
  if (few <= stripes) words.load();
  unsigned done = 0;
  for (; done + few <= stripes; done += few) {
    std::uint64_t input[few];
    words.take(input);
    if (done + 2 * few <= stripes) words.load();
#pragma unroll
    for (unsigned i = 0; i < few; ++i) sum = round_of(sum, input[i]);
  }
  for (; done < stripes; ++done) sum = round_of(sum, words.take_one());
  return sum;
}

/// The bytes after the last complete stripe, and the avalanche.
__device__ inline std::uint64_t finish_hash(std::uint64_t hash, const std::byte* at,
                                            const std::byte* end) {
  for (; end - at >= 8; at += 8) {
    hash = rotated(hash ^ round_of(0, get_bytes(at, 8)), 27) * prime1 + prime4;
  }
  for (; end - at >= 4; at += 4) {
    hash = rotated(hash ^ (get_bytes(at, 4) * prime1), 23) * prime2 + prime3;
  }
  for (; at < end; ++at) hash = rotated(hash ^ (get_bytes(at, 1) * prime5), 11) * prime1;
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

__device__ inline std::uint64_t first_sum(unsigned lane) {
  return lane == 0 ? prime1 + prime2 : lane == 1 ? prime2 : lane == 2 ? 0 : 0 - prime1;
}

/// Combines the accumulators and the rest; valid in the first of four lanes.
__device__ inline std::uint64_t finish_lanes(std::uint64_t sum, const std::byte* rest,
                                             unsigned length) {
  std::uint64_t hash = 0;
  for (unsigned i = 0; i < hash_lanes; ++i) {
    hash += rotated(__shfl_sync(~0U, sum, i, hash_lanes), i == 0   ? 1
                                                          : i == 1 ? 7
                                                          : i == 2 ? 12
                                                                   : 18);
  }
  for (unsigned i = 0; i < hash_lanes; ++i) {
    hash = (hash ^ round_of(0, __shfl_sync(~0U, sum, i, hash_lanes))) * prime1 + prime4;
  }
  if (length < hash_stripe) hash = prime5;
  return finish_hash(hash + length, rest, rest + length % hash_stripe);
}

/// XXH64 of an unaligned string by four threads; valid in the first. All lanes of the warp must
/// call it.
__device__ inline std::uint64_t xxh64_of(const std::byte* bytes, unsigned length) {
  const unsigned lane = threadIdx.x % hash_lanes;
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes) % sizeof(std::uint64_t) == 0;
  const unsigned stripes = length / hash_stripe;
  const std::uint64_t sum = aligned ? add_stripes<true>(first_sum(lane), bytes, lane, stripes)
                                    : add_stripes<false>(first_sum(lane), bytes, lane, stripes);
  return finish_lanes(sum, bytes + stripes * hash_stripe, length);
}

/// Hashes blocks, four threads each, in a row of thread blocks. Accesses only words of the string.
__device__ inline void hash_blocks_of(const std::byte* bytes, std::uint64_t size,
                                      std::uint64_t* hashes) {
  const std::uint64_t self = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t block = self / hash_lanes;
  const bool inside = block * hash_block_bytes < size;
  const std::uint64_t first = inside ? block * hash_block_bytes : 0;
  const std::uint64_t left = inside ? size - first : 0;
  const auto length = static_cast<unsigned>(left < hash_block_bytes ? left : hash_block_bytes);
  const std::uint64_t hash = xxh64_of(bytes + first, length);
  if (inside && self % hash_lanes == 0) hashes[block] = hash;
}

}  // namespace cuszi::gpu

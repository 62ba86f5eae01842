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

/// Accumulates all stripes; loads are one batch ahead. Calls each(word) for the words of the lane.
template <bool aligned, class Each>
__device__ std::uint64_t add_stripes(std::uint64_t sum, const std::byte* bytes, unsigned lane,
                                     unsigned stripes, Each each) {
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
    for (unsigned i = 0; i < few; ++i) {
      sum = round_of(sum, input[i]);
      each(input[i]);
    }
  }
  for (; done < stripes; ++done) {
    const std::uint64_t word = words.take_one();
    sum = round_of(sum, word);
    each(word);
  }
  return sum;
}

/// Copies the words of aligned stripes to any address, where a lane's words end in the next ones.
class StripeCopy {
 public:
  /// `has_before`: bytes before `from` go before `to`.
  __device__ StripeCopy(const std::byte* from, std::byte* to, unsigned lane, bool has_before)
      : beyond_(static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % 8)),
        to_(reinterpret_cast<std::uint64_t*>(to - beyond_) + lane),
        lane_(lane),
        group_(0xFU << (threadIdx.x % 32 & ~3U)),
        leaves_out_(!has_before && lane == 0 && beyond_ != 0) {
    if (has_before && beyond_ != 0) last_ = *reinterpret_cast<const std::uint64_t*>(from - 8);
  }

  __device__ void operator()(std::uint64_t word) {
    std::uint64_t whole = word;
    if (beyond_ != 0) {
      const std::uint64_t shown = lane_ + 1 == hash_lanes ? last_ : word;
      last_ = word;
      const std::uint64_t before =
          __shfl_sync(group_, shown, (lane_ + hash_lanes - 1) % hash_lanes, hash_lanes);
      whole = word << (8 * beyond_) | before >> (64 - 8 * beyond_);
    }
    if (!leaves_out_) *to_ = whole;
    leaves_out_ = false;
    to_ += hash_lanes;
  }

 private:
  int beyond_;  ///< bytes of a word that are in the next one
  std::uint64_t* to_;
  unsigned lane_;
  unsigned group_;
  bool leaves_out_;         ///< the first word, which is not all of the copy
  std::uint64_t last_ = 0;  ///< the lane's word before
};

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
  const auto none = [](std::uint64_t) {};
  const std::uint64_t sum = aligned
                                ? add_stripes<true>(first_sum(lane), bytes, lane, stripes, none)
                                : add_stripes<false>(first_sum(lane), bytes, lane, stripes, none);
  return finish_lanes(sum, bytes + stripes * hash_stripe, length);
}

/// xxh64_of() of an aligned part of a string, which is copied. The part after it copies what ends
/// in its first word.
__device__ inline std::uint64_t xxh64_of_copied(const std::byte* bytes, unsigned length,
                                                std::byte* to, bool is_first, bool is_last) {
  const unsigned lane = threadIdx.x % hash_lanes;
  const unsigned stripes = length / hash_stripe;
  const std::uint64_t sum = add_stripes<true>(first_sum(lane), bytes, lane, stripes,
                                              StripeCopy(bytes, to, lane, !is_first));
  const auto beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % 8);
  const auto copy = [&](int first, int end) {
    for (int i = first + static_cast<int>(lane); i < end; i += hash_lanes) to[i] = bytes[i];
  };
  const int whole = static_cast<int>(stripes * hash_stripe) - beyond;
  if (is_first) copy(0, min(8 - beyond, static_cast<int>(length)));
  if (is_last) copy(is_first ? max(whole, 0) : whole, static_cast<int>(length));
  return finish_lanes(sum, bytes + stripes * hash_stripe, length);
}

/// Hashes blocks, four threads each, in a row of thread blocks. Accesses only words of the string.
/// Copies an aligned string to `copy` unless null.
template <bool copies>
__device__ void hash_blocks_of(const std::byte* bytes, std::uint64_t size, std::uint64_t* hashes,
                               std::byte* copy) {
  const std::uint64_t self = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t block = self / hash_lanes;
  const bool inside = block * hash_block_bytes < size;
  const std::uint64_t first = inside ? block * hash_block_bytes : 0;
  const std::uint64_t left = inside ? size - first : 0;
  const auto length = static_cast<unsigned>(left < hash_block_bytes ? left : hash_block_bytes);
  std::uint64_t hash = 0;
  if constexpr (copies)
    hash = xxh64_of_copied(bytes + first, length, copy + first, first == 0,
                           inside && left <= hash_block_bytes);
  else
    hash = xxh64_of(bytes + first, length);
  if (inside && self % hash_lanes == 0) hashes[block] = hash;
}

}  // namespace cuszi::gpu

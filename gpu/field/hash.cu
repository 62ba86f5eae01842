#include <algorithm>
#include <numeric>

#include "gpu/field/hash.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/many.cuh"

namespace cuszi::gpu {

namespace {

// XXH64 (Yann Collet), seed 0.
constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87U;
constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4FU;
constexpr std::uint64_t prime3 = 0x165667B19E3779F9U;
constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63U;
constexpr std::uint64_t prime5 = 0x27D4EB2F165667C5U;

constexpr unsigned lanes = 4;  ///< accumulators of a hash, a thread each
constexpr unsigned stripe = lanes * sizeof(std::uint64_t);

__device__ std::uint64_t rotated(std::uint64_t x, int bits) {
  return (x << bits) | (x >> (64 - bits));
}

__device__ std::uint64_t round_of(std::uint64_t accumulator, std::uint64_t input) {
  return rotated(accumulator + input * prime2, 31) * prime1;
}

/// The words of a thread's stripes as they lie in memory: strings may start at any byte, and then
/// the 8 bytes of one stripe end in the word that the next lane has.
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

  /// Asks for the words of the next stripes.
  __device__ void load() {
#pragma unroll
    for (unsigned i = 0; i < few; ++i) next_[i] = words_[i * lanes];
    if (!aligned) last_ = lane_ == 0 ? words_[few * lanes] : 0;
    words_ += few * lanes;
  }
  /// The 8 bytes of each of the stripes that were asked for.
  __device__ void take(std::uint64_t (&input)[few]) const {
#pragma unroll
    for (unsigned i = 0; i < few; ++i)
      input[i] = aligned ? next_[i] : joined(next_[i], i + 1 < few ? next_[i + 1] : last_);
  }
  /// This lane's 8 bytes of the next stripe. Reads no word that holds none of these bytes.
  __device__ std::uint64_t take_one() {
    const std::uint64_t first = words_[0];
    const std::uint64_t result = aligned ? first : (first >> shift_) | (words_[1] << (64 - shift_));
    words_ += lanes;
    return result;
  }

 private:
  /// `behind`: the same lane's word of the stripe behind.
  __device__ std::uint64_t joined(std::uint64_t word, std::uint64_t behind) const {
    const std::uint64_t shown = lane_ == 0 ? behind : word;
    const std::uint64_t rest = __shfl_sync(group_, shown, (lane_ + 1) % lanes, lanes);
    return (word >> shift_) | (rest << (64 - shift_));
  }

  const std::uint64_t* words_;
  int shift_;
  unsigned lane_;
  unsigned group_;
  std::uint64_t next_[few];
  std::uint64_t last_;
};

/// A thread's accumulator after all stripes; the words of the next few are on their way while
/// those of the last few are added.
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

/// What follows the last whole stripe.
__device__ std::uint64_t finish(std::uint64_t hash, const std::byte* at, const std::byte* end) {
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

struct HashPolicy {
  static constexpr unsigned threads = 32;
  static constexpr unsigned most_strings = 4;  ///< of a launch
};

/// A string, and where the hashes of its blocks go.
struct HashedString {
  const std::byte* bytes;
  std::uint64_t size;
  std::uint64_t* hashes;
};
/// Strings in a launch's arguments.
struct FewStrings {
  HashedString strings[HashPolicy::most_strings];
};
/// Strings that a table on the device tells of.
struct ManyStrings {
  const HashedString* strings;
};

/// Four neighbouring threads per block of bytes; strings side by side.
template <class Strings>
__global__ void __launch_bounds__(HashPolicy::threads)
    hash_blocks(const __grid_constant__ Strings task) {
  const auto [bytes, size, hashes] = task.strings[blockIdx.y];
  const std::uint64_t blocks = ceil_div(size, hash_block_bytes);
  const std::uint64_t self = std::uint64_t{blockIdx.x} * HashPolicy::threads + threadIdx.x;
  const std::uint64_t block = self / lanes;
  const unsigned lane = threadIdx.x % lanes;
  const bool inside = block < blocks;
  const std::uint64_t first = inside ? block * hash_block_bytes : 0;
  const std::uint64_t left = inside ? size - first : 0;
  const auto length = static_cast<unsigned>(left < hash_block_bytes ? left : hash_block_bytes);
  std::uint64_t sum = lane == 0 ? prime1 + prime2 : lane == 1 ? prime2 : lane == 2 ? 0 : 0 - prime1;
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes) % sizeof(std::uint64_t) == 0;
  sum = aligned ? add_stripes<true>(sum, bytes + first, lane, length / stripe)
                : add_stripes<false>(sum, bytes + first, lane, length / stripe);

  std::uint64_t hash = 0;
  for (unsigned i = 0; i < lanes; ++i) {
    hash += rotated(__shfl_sync(~0U, sum, i, lanes), i == 0 ? 1 : i == 1 ? 7 : i == 2 ? 12 : 18);
  }
  for (unsigned i = 0; i < lanes; ++i) {
    hash = (hash ^ round_of(0, __shfl_sync(~0U, sum, i, lanes))) * prime1 + prime4;
  }
  if (!inside || lane != 0) return;
  if (length < stripe) hash = prime5;
  const std::byte* const start = bytes + first;
  hashes[block] = finish(hash + length, start + length / stripe * stripe, start + length);
}

std::uint64_t blocks_of(Bytes string) { return ceil_div(string.size(), hash_block_bytes); }

template <class Strings>
void launch_hashes(DeviceContext& gpu, const Strings& task, std::uint64_t most_blocks,
                   std::size_t strings) {
  const dim3 grid(blocks_for(most_blocks * lanes, HashPolicy::threads),
                  static_cast<unsigned>(strings));
  hash_blocks<<<grid, HashPolicy::threads, 0, gpu.stream()>>>(task);
  check_launch("hash_blocks");
}

/// Hashes the blocks of at most most_strings strings; returns where the next hashes go.
std::uint64_t* start_to_hash(DeviceContext& gpu, std::span<const Bytes> strings,
                             std::uint64_t* hashes) {
  FewStrings task{};
  std::uint64_t most_blocks = 1;
  for (std::size_t i = 0; i < strings.size(); ++i) {
    task.strings[i] = {strings[i].data(), strings[i].size(), hashes};
    most_blocks = std::max(most_blocks, blocks_of(strings[i]));
    hashes += blocks_of(strings[i]);
  }
  launch_hashes(gpu, task, most_blocks, strings.size());
  return hashes;
}

}  // namespace

std::uint64_t block_hash(DeviceContext& gpu, Bytes bytes) {
  return block_hashes(gpu, std::span(&bytes, 1)).front();
}

std::function<std::vector<std::uint64_t>()> start_block_hashes(DeviceContext& gpu,
                                                               std::span<const Bytes> strings) {
  std::vector<std::uint64_t> counts;
  for (const Bytes string : strings) counts.push_back(blocks_of(string));
  const std::uint64_t blocks = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  auto* const hashes = gpu.take_pinned<std::uint64_t>(blocks);  // which the device reaches too
  std::uint64_t* next = hashes;
  for (std::size_t i = 0; i < strings.size(); i += HashPolicy::most_strings) {
    const std::size_t count = std::min<std::size_t>(strings.size() - i, HashPolicy::most_strings);
    next = start_to_hash(gpu, strings.subspan(i, count), next);
  }
  return [hashes, counts] {
    std::vector<std::uint64_t> result;
    const std::uint64_t* found = hashes;
    for (const std::uint64_t count : counts) {
      result.push_back(combine_block_hashes({found, count}));
      found += count;
    }
    return result;
  };
}

std::function<std::vector<std::uint64_t>()> start_many_hashes(DeviceContext& gpu,
                                                              std::span<const Bytes> strings) {
  auto* const staged = gpu.take_pinned<HashedString>(strings.size());
  std::uint64_t blocks = 0;
  std::uint64_t most_blocks = 1;
  for (const Bytes string : strings) {
    blocks += blocks_of(string);
    most_blocks = std::max(most_blocks, blocks_of(string));
  }
  auto* const hashes = gpu.take<std::uint64_t>(blocks);
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < strings.size(); ++i) {
    staged[i] = {strings[i].data(), strings[i].size(), hashes + first};
    first += blocks_of(strings[i]);
  }
  auto* const there = gpu.take<HashedString>(strings.size());
  copy_pinned(gpu, there, staged, strings.size());
  launch_hashes(gpu, ManyStrings{there}, most_blocks, strings.size());
  const auto* const found = download(gpu, hashes, blocks);
  return [&gpu, found, staged, hashes, count = strings.size()] {
    std::vector<std::uint64_t> result(count);
    for_each_of_many(gpu, count, [&](std::size_t i) {
      result[i] = combine_block_hashes(
          {found + (staged[i].hashes - hashes), ceil_div(staged[i].size, hash_block_bytes)});
    });
    return result;
  };
}

std::vector<std::uint64_t> block_hashes(DeviceContext& gpu, std::span<const Bytes> strings) {
  const auto pending = start_block_hashes(gpu, strings);
  gpu.sync();
  return pending();
}

}  // namespace cuszi::gpu

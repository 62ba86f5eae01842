#include <algorithm>
#include <numeric>

#include "gpu/field/hash.cuh"
#include "gpu/field/hash_lanes.cuh"
#include "gpu/runtime/many.cuh"

namespace cuszi::gpu {

namespace {

struct HashPolicy {
  static constexpr unsigned threads = 32;
  static constexpr unsigned most_strings = 4;  ///< per launch
};

struct HashedString {
  const std::byte* bytes;
  std::uint64_t size;
  std::uint64_t* hashes;
  std::byte* copy;  ///< if it is copied
};
/// Passed as kernel arguments.
struct FewStrings {
  HashedString strings[HashPolicy::most_strings];
};
struct ManyStrings {
  const HashedString* strings;
};

/// Four threads per block of bytes; strings along grid.y.
template <bool copies, class Strings>
__global__ void __launch_bounds__(HashPolicy::threads)
    hash_blocks(const __grid_constant__ Strings task) {
  const auto [bytes, size, hashes, copy] = task.strings[blockIdx.y];
  hash_blocks_of<copies>(bytes, size, hashes, copy);
}

std::uint64_t blocks_of(Bytes string) { return ceil_div(string.size(), hash_block_bytes); }

template <bool copies, class Strings>
void launch_hashes(DeviceContext& gpu, const Strings& task, std::uint64_t most_blocks,
                   std::size_t strings) {
  const dim3 grid(blocks_for(most_blocks * hash_lanes, HashPolicy::threads),
                  static_cast<unsigned>(strings));
  hash_blocks<copies><<<grid, HashPolicy::threads, 0, gpu.stream()>>>(task);
  check_launch("hash_blocks");
}

/// Strings with hashes and, if `copy` is not null, copies one after the other.
void start_to_hash(DeviceContext& gpu, std::span<const Bytes> strings, std::uint64_t* hashes,
                   std::byte* copy) {
  for (std::size_t first = 0; first < strings.size(); first += HashPolicy::most_strings) {
    const auto few = strings.subspan(
        first, std::min<std::size_t>(strings.size() - first, HashPolicy::most_strings));
    FewStrings task{};
    std::uint64_t most_blocks = 1;
    for (std::size_t i = 0; i < few.size(); ++i) {
      task.strings[i] = {few[i].data(), few[i].size(), hashes, copy};
      most_blocks = std::max(most_blocks, blocks_of(few[i]));
      hashes += blocks_of(few[i]);
      if (copy != nullptr) copy += few[i].size();
    }
    if (copy != nullptr)
      launch_hashes<true>(gpu, task, most_blocks, few.size());
    else
      launch_hashes<false>(gpu, task, most_blocks, few.size());
  }
}

}  // namespace

std::uint64_t block_hash(DeviceContext& gpu, Bytes bytes) {
  return block_hashes(gpu, std::span(&bytes, 1)).front();
}

std::function<std::vector<std::uint64_t>()> start_block_hashes(DeviceContext& gpu,
                                                               std::span<const Bytes> strings,
                                                               std::byte* copy) {
  std::vector<std::uint64_t> counts;
  for (const Bytes string : strings) counts.push_back(blocks_of(string));
  const std::uint64_t blocks = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  auto* const hashes = gpu.take_pinned<std::uint64_t>(blocks);  // accessible from the device
  start_to_hash(gpu, strings, hashes, copy);
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
    staged[i] = {strings[i].data(), strings[i].size(), hashes + first, nullptr};
    first += blocks_of(strings[i]);
  }
  auto* const there = gpu.take<HashedString>(strings.size());
  copy_pinned(gpu, there, staged, strings.size());
  launch_hashes<false>(gpu, ManyStrings{there}, most_blocks, strings.size());
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

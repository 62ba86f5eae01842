#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

struct RankPolicy {
  static constexpr int threads = 256;
  static constexpr int words = static_cast<int>(RankedBits::block_words) / threads;  ///< per thread
};
struct SumPolicy {
  static constexpr int threads = 1024;
  static constexpr int sums = 8;  ///< per thread
  static constexpr std::uint64_t tile = threads * sums;
};

/// One thread block per block of points.
__global__ void __launch_bounds__(RankPolicy::threads)
    rank_words(RankedBits bits, std::uint32_t* block_counts) {
  using Scan = cub::BlockScan<unsigned, RankPolicy::threads>;
  __shared__ typename Scan::TempStorage storage;
  const std::uint64_t first =
      std::uint64_t{blockIdx.x} * RankedBits::block_words + threadIdx.x * RankPolicy::words;
  unsigned ranks[RankPolicy::words];
  for (int i = 0; i < RankPolicy::words; ++i) {
    ranks[i] = static_cast<unsigned>(__popcll(static_cast<long long>(bits.words[first + i])));
  }
  unsigned total = 0;
  Scan(storage).ExclusiveSum(ranks, ranks, total);
  for (int i = 0; i < RankPolicy::words; ++i) {
    bits.rank_in_block[first + i] = static_cast<std::uint16_t>(ranks[i]);
  }
  if (threadIdx.x == 0) block_counts[blockIdx.x] = total;
}

__device__ void load_counts(const std::uint32_t* counts, std::uint64_t count,
                            std::uint64_t (&loaded)[SumPolicy::sums]) {
  const std::uint64_t first = blockIdx.x * SumPolicy::tile + threadIdx.x * SumPolicy::sums;
  for (int i = 0; i < SumPolicy::sums; ++i) loaded[i] = first + i < count ? counts[first + i] : 0;
}

__global__ void __launch_bounds__(SumPolicy::threads)
    sum_tiles(const std::uint32_t* counts, std::uint64_t count, std::uint64_t* sums) {
  using Reduce = cub::BlockReduce<std::uint64_t, SumPolicy::threads>;
  __shared__ typename Reduce::TempStorage storage;
  std::uint64_t own[SumPolicy::sums];
  load_counts(counts, count, own);
  const std::uint64_t sum = Reduce(storage).Sum(own);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// `before`: sums of the tiles before each.
__global__ void __launch_bounds__(SumPolicy::threads)
    scan_tiles(const std::uint32_t* counts, std::uint64_t count, const std::uint64_t* before,
               std::uint64_t* out) {
  using Scan = cub::BlockScan<std::uint64_t, SumPolicy::threads>;
  __shared__ typename Scan::TempStorage storage;
  std::uint64_t sums[SumPolicy::sums];
  load_counts(counts, count, sums);
  Scan(storage).ExclusiveSum(sums, sums);
  const std::uint64_t first = blockIdx.x * SumPolicy::tile + threadIdx.x * SumPolicy::sums;
  for (int i = 0; i < SumPolicy::sums; ++i) {
    if (first + i < count) out[first + i] = before[blockIdx.x] + sums[i];
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) out[count] = before[gridDim.x];
}

/// A single thread block; for few counts.
template <class Count>
__global__ void __launch_bounds__(SumPolicy::threads)
    sum_counts(const Count* counts, std::uint64_t count, std::uint64_t* out) {
  using Scan = cub::BlockScan<std::uint64_t, SumPolicy::threads>;
  __shared__ typename Scan::TempStorage storage;
  std::uint64_t before = 0;
  for (std::uint64_t start = 0; start < count; start += SumPolicy::tile) {
    const std::uint64_t first = start + threadIdx.x * SumPolicy::sums;
    std::uint64_t sums[SumPolicy::sums];
    for (int i = 0; i < SumPolicy::sums; ++i) sums[i] = first + i < count ? counts[first + i] : 0;
    std::uint64_t total = 0;
    Scan(storage).ExclusiveSum(sums, sums, total);
    for (int i = 0; i < SumPolicy::sums; ++i) {
      if (first + i < count) out[first + i] = before + sums[i];
    }
    before += total;
    __syncthreads();
  }
  if (threadIdx.x == 0) out[count] = before;
}

}  // namespace

RankedBits take_bits(DeviceContext& gpu, std::uint64_t points) {
  RankedBits bits;
  bits.blocks = ceil_div(points, RankedBits::block_points);
  bits.words = gpu.take<std::uint64_t>(bits.blocks * RankedBits::block_words);
  bits.rank_in_block = gpu.take<std::uint16_t>(bits.blocks * RankedBits::block_words);
  bits.rank_of_block = gpu.take<std::uint64_t>(bits.blocks + 1);
  return bits;
}

RankedBits make_bits(DeviceContext& gpu, std::uint64_t points) {
  const RankedBits bits = take_bits(gpu, points);
  check(cudaMemsetAsync(bits.words, 0, bits.blocks * RankedBits::block_words * sizeof *bits.words,
                        gpu.stream()),
        "clear memory");
  return bits;
}

void rank_bits(DeviceContext& gpu, const RankedBits& bits) {
  auto* const counts = gpu.take<std::uint32_t>(bits.blocks);
  rank_words<<<grid_of(bits.blocks), RankPolicy::threads, 0, gpu.stream()>>>(bits, counts);
  check_launch("rank_words");
  exclusive_sums(gpu, counts, bits.blocks, bits.rank_of_block);
}

void exclusive_sums(DeviceContext& gpu, const std::uint32_t* counts, std::uint64_t count,
                    std::uint64_t* out) {
  constexpr std::uint64_t few = 2 * SumPolicy::tile;
  if (count <= few) {
    sum_counts<<<1, SumPolicy::threads, 0, gpu.stream()>>>(counts, count, out);
    check_launch("sum_counts");
    return;
  }
  const std::uint64_t tiles = ceil_div(count, SumPolicy::tile);
  auto* const sums = gpu.take<std::uint64_t>(tiles);
  auto* const before = gpu.take<std::uint64_t>(tiles + 1);
  sum_tiles<<<grid_of(tiles), SumPolicy::threads, 0, gpu.stream()>>>(counts, count, sums);
  check_launch("sum_tiles");
  sum_counts<<<1, SumPolicy::threads, 0, gpu.stream()>>>(sums, tiles, before);
  check_launch("sum_counts");
  scan_tiles<<<grid_of(tiles), SumPolicy::threads, 0, gpu.stream()>>>(counts, count, before, out);
  check_launch("scan_tiles");
}

}  // namespace cuszi::gpu

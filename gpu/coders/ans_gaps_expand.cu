#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "gpu/coders/ans_gaps.cuh"
#include "gpu/coders/tuning.cuh"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/tiled_ranges.cuh"

namespace cuszi::gpu {

namespace {

constexpr std::uint64_t beyond = ~std::uint32_t{0};  ///< exceeds all positions

struct ExpandTask {
  const CodedGaps* tables;
  const std::uint32_t* first_others;  ///< [table]
  std::uint32_t centre;
  QuantCode* codes;
  std::uint32_t* positions;
  std::uint32_t* flaws;
};

/// The lists whose prefix sums are positions.
struct Gaps {
  __device__ static const std::uint32_t* list(const CodedGaps& table) { return table.lists.gaps; }
  __device__ static std::uint32_t count(const CodedGaps& table) { return table.others; }
  __device__ static std::uint64_t length(std::uint32_t value) { return (value >> 1) + 1; }
};
struct InnerGaps {
  __device__ static const std::uint32_t* list(const CodedGaps& table) {
    return table.lists.inner_gaps;
  }
  __device__ static std::uint32_t count(const CodedGaps& table) { return table.larger; }
  __device__ static std::uint64_t length(std::uint32_t value) { return std::uint64_t{value} + 1; }
};

template <class List>
__device__ void load_lengths(const CodedGaps& table, std::uint32_t first,
                             std::uint64_t (&lengths)[ExpandPolicy::numbers]) {
#pragma unroll
  for (unsigned k = 0; k < ExpandPolicy::numbers; ++k) {
    lengths[k] = first + k < List::count(table) ? List::length(List::list(table)[first + k]) : 0;
  }
}

/// Sums saturate at `beyond`, above any valid list.
template <class List>
__global__ void __launch_bounds__(ExpandPolicy::threads)
    sum_lengths(ExpandTask task, TiledRanges tiles, std::uint32_t* sums) {
  using Reduce = cub::BlockReduce<std::uint64_t, ExpandPolicy::threads>;
  __shared__ typename Reduce::TempStorage storage;
  const std::uint32_t number = tiles.range_of(blockIdx.x);
  const std::uint32_t first =
      (blockIdx.x - tiles.first_tiles[number]) * ExpandPolicy::tile_numbers +
      threadIdx.x * ExpandPolicy::numbers;
  std::uint64_t lengths[ExpandPolicy::numbers];
  load_lengths<List>(task.tables[number], first, lengths);
  const std::uint64_t sum = Reduce(storage).Sum(lengths);
  if (threadIdx.x == 0) sums[blockIdx.x] = static_cast<std::uint32_t>(min(sum, beyond));
}

/// Calls visit(i, position) for a tile's items.
template <class List, class Visit>
__device__ void visit_places(const CodedGaps& table, const TiledRanges& tiles, std::uint32_t number,
                             const std::uint64_t* before, const Visit& visit) {
  using Scan = cub::BlockScan<std::uint64_t, ExpandPolicy::threads>;
  __shared__ typename Scan::TempStorage storage;
  const std::uint32_t first =
      (blockIdx.x - tiles.first_tiles[number]) * ExpandPolicy::tile_numbers +
      threadIdx.x * ExpandPolicy::numbers;
  std::uint64_t lengths[ExpandPolicy::numbers];
  load_lengths<List>(table, first, lengths);
  Scan(storage).InclusiveSum(lengths, lengths);
  const std::uint64_t start = before[blockIdx.x] - before[tiles.first_tiles[number]];
#pragma unroll
  for (unsigned k = 0; k < ExpandPolicy::numbers; ++k) {
    if (first + k < List::count(table)) {
      visit(first + k, static_cast<std::uint32_t>(min(start + lengths[k] - 1, beyond)));
    }
  }
}

__global__ void __launch_bounds__(ExpandPolicy::threads)
    place_others(ExpandTask task, TiledRanges tiles, const std::uint64_t* before) {
  const std::uint32_t number = tiles.range_of(blockIdx.x);
  const CodedGaps table = task.tables[number];
  const std::uint32_t first_other = task.first_others[number];
  visit_places<Gaps>(table, tiles, number, before, [&](std::uint32_t i, std::uint32_t place) {
    task.positions[first_other + i] = place;
    task.codes[first_other + i] = code_of(1, (table.lists.gaps[i] & 1) != 0, task.centre);
  });
}

__global__ void __launch_bounds__(ExpandPolicy::threads)
    place_larger(ExpandTask task, TiledRanges tiles, const std::uint64_t* before) {
  const std::uint32_t number = tiles.range_of(blockIdx.x);
  const CodedGaps table = task.tables[number];
  QuantCode* const codes = task.codes + task.first_others[number];
  visit_places<InnerGaps>(table, tiles, number, before, [&](std::uint32_t i, std::uint32_t place) {
    if (place >= table.others) {
      atomicOr(task.flaws, wrong_code_counts);
      return;
    }
    const std::uint32_t magnitude = table.lists.magnitudes[i];
    codes[place] = magnitude == 0
                       ? outlier_code
                       : code_of(magnitude, (table.lists.gaps[place] & 1) != 0, task.centre);
  });
}

/// Runs a kernel with the sums of lengths before each tile.
template <class List, class Kernel>
void place(DeviceContext& gpu, Kernel* kernel, const char* name, const ExpandTask& task,
           const TiledRanges& tiles) {
  if (tiles.tiles == 0) return;
  auto* const sums = gpu.take<std::uint32_t>(tiles.tiles);
  auto* const before = gpu.take<std::uint64_t>(std::uint64_t{tiles.tiles} + 1);
  sum_lengths<List><<<tiles.tiles, ExpandPolicy::threads, 0, gpu.stream()>>>(task, tiles, sums);
  check_launch("sum_lengths");
  exclusive_sums(gpu, sums, tiles.tiles, before);
  kernel<<<tiles.tiles, ExpandPolicy::threads, 0, gpu.stream()>>>(task, tiles, before);
  check_launch(name);
}

}  // namespace

std::vector<PlacedOthers> expand_gaps(DeviceContext& gpu, std::span<const CodedGaps> tables,
                                      std::uint32_t centre) {
  std::vector<std::uint32_t> first_others;
  std::vector<std::uint64_t> others;
  std::vector<std::uint64_t> larger;
  std::uint32_t all = 0;
  for (const CodedGaps& table : tables) {
    first_others.push_back(all);
    others.push_back(table.others);
    larger.push_back(table.larger);
    all += table.others;
  }
  CopyList uploads;
  const ExpandTask task{upload(gpu, tables.data(), tables.size(), uploads),
                        upload(gpu, first_others.data(), first_others.size(), uploads),
                        centre,
                        gpu.take<QuantCode>(all),
                        gpu.take<std::uint32_t>(all),
                        gpu.flaws()};
  const TiledRanges of_others = tile_ranges(gpu, others, ExpandPolicy::tile_numbers, uploads);
  const TiledRanges of_larger = tile_ranges(gpu, larger, ExpandPolicy::tile_numbers, uploads);
  uploads.run(gpu.stream());
  place<Gaps>(gpu, place_others, "place_others", task, of_others);
  place<InnerGaps>(gpu, place_larger, "place_larger", task, of_larger);
  std::vector<PlacedOthers> placed;
  for (const std::uint32_t first : first_others) {
    placed.push_back({task.codes + first, task.positions + first});
  }
  return placed;
}

}  // namespace cuszi::gpu

#include <cub/block/block_scan.cuh>

#include "gpu/cells/values.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned anchor_warps = ItemPolicy::threads / 32;
constexpr unsigned scan_threads = 256;

__device__ std::uint32_t warp_number() {
  return static_cast<std::uint32_t>(ItemPolicy::first() / 32);
}

/// The first value of a tile that is not missing, by a warp.
template <class T, class Shape>
__device__ T first_present(const CellGrid& grid, std::uint64_t number,
                           const CellsQuantizer<T>& quantizer, const RestoreRules<T>& rules,
                           const T* values) {
  const CellTile tile = grid.tile<Shape>(number);
  const T* const first = values + grid.index(tile.first[0], tile.first[1], tile.first[2]);
  int own[axis_count];
  for (int axis = 0; axis < axis_count; ++axis)
    own[axis] = min(tile.last[axis] + 1, Shape::extent(axis));
  const int points = own[0] * own[1] * own[2];
  for (int start = 0; start < points; start += 32) {
    const int point = start + static_cast<int>(threadIdx.x % 32);
    const int row = point / own[2];
    const bool exists = point < points;
    const T value = exists ? first[grid.index(static_cast<unsigned>(row / own[1]),
                                              static_cast<unsigned>(row % own[1]),
                                              static_cast<unsigned>(point % own[2]))]
                           : T(0);
    const unsigned present = __ballot_sync(~0U, exists && !quantizer.is_missing(value, rules));
    if (present != 0) return __shfl_sync(~0U, value, __ffs(static_cast<int>(present)) - 1);
  }
  return quantizer.middle();
}

/// A thread a tile; those of a warp look together for values where anchors are missing.
template <class T, class Shape, class Frames>
__global__ void __launch_bounds__(ItemPolicy::threads)
    find_anchor(const __grid_constant__ Frames frames) {
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  unsigned block;
  const PredictTask<T>& task = frames.find(shared, block);
  const CellGrid& grid = task.grid;
  const std::uint64_t number = ItemPolicy::first();
  const bool exists = number < grid.count();
  T value = 0;
  if (exists) {
    const CellTile tile = grid.tile<Shape>(number);
    value = task.values[grid.index(tile.first[0], tile.first[1], tile.first[2])];
  }
  if (task.has_missing) {
    unsigned missing = __ballot_sync(~0U, exists && task.quantizer.is_missing(value, task.rules));
    for (; missing != 0; missing &= missing - 1) {
      const unsigned lane = static_cast<unsigned>(__ffs(static_cast<int>(missing)) - 1);
      const T found = first_present<T, Shape>(grid, number - threadIdx.x % 32 + lane,
                                              task.quantizer, task.rules, task.values);
      if (threadIdx.x % 32 == lane) value = found;
    }
  }
  if (exists) task.anchors[number] = task.quantizer.anchor_of(value);
}

/// A warp a group of 32 differences.
__global__ void __launch_bounds__(ItemPolicy::threads)
    pack_groups(CellGrid grid, const std::int32_t* anchors, std::uint32_t groups,
                std::uint8_t* widths, std::uint32_t* counts, std::uint32_t* words) {
  __shared__ std::uint32_t packed[anchor_warps][32];
  const std::uint32_t group = warp_number();
  if (group >= groups) return;
  const std::uint64_t first = std::uint64_t{blockIdx.y} * groups;  // of the frame
  anchors += blockIdx.y * grid.count();
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t number = group * 32 + lane;
  const std::uint32_t value =
      number < grid.count() ? zigzag32(anchor_difference(grid, anchors, number)) : 0;
  const auto width =
      static_cast<unsigned>(32 - __clz(static_cast<int>(__reduce_or_sync(~0U, value))));
  std::uint32_t* const own = packed[threadIdx.x / 32];
  own[lane] = 0;
  __syncwarp();
  const unsigned bit = lane * width;
  if (value != 0) {
    atomicOr(own + bit / 32, value << bit % 32);
    if (bit % 32 + width > 32) atomicOr(own + bit / 32 + 1, value >> (32 - bit % 32));
  }
  __syncwarp();
  words[(first + group) * 32 + lane] = own[lane];
  if (lane != 0) return;
  widths[first + group] = static_cast<std::uint8_t>(width);
  counts[first + group] = width;
}

template <class Frames>
__global__ void __launch_bounds__(ItemPolicy::threads)
    read_widths(const __grid_constant__ Frames frames, std::uint32_t groups,
                std::uint32_t* counts) {
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  unsigned block;
  const AnchorSection& section = frames.find(shared, block);
  const std::uint64_t group = ItemPolicy::first();
  if (group >= groups) return;
  const auto width = static_cast<std::uint32_t>(section.bytes[group]);
  if (width > 32) atomicOr(section.flaws, bad_anchors);
  counts[std::uint64_t{blockIdx.y} * groups + group] = width <= 32 ? width : 0;
}

/// A warp a group.
template <class Frames>
__global__ void __launch_bounds__(ItemPolicy::threads)
    unpack_groups(const __grid_constant__ Frames frames, std::uint32_t groups,
                  const std::uint32_t* widths, const std::uint64_t* offsets, std::uint64_t count,
                  std::int32_t* anchors) {
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  unsigned block;
  const AnchorSection& section = frames.find(shared, block);
  const std::uint32_t group = warp_number();
  if (group >= groups) return;
  widths += std::uint64_t{blockIdx.y} * groups;
  offsets += std::uint64_t{blockIdx.y} * groups;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t width = widths[group];
  if (offsets[groups] - offsets[0] != section.words) {
    if (lane == 0) atomicOr(section.flaws, bad_anchors);
    return;
  }
  const std::byte* const own =
      section.bytes + (groups + 3) / 4 * 4 + 4 * (offsets[group] - offsets[0]);
  const std::uint32_t word =
      lane < width ? static_cast<std::uint32_t>(get_bytes(own + 4 * lane, 4)) : 0;
  const unsigned bit = lane * width;
  const std::uint32_t low = __shfl_sync(~0U, word, static_cast<int>(bit / 32 % 32));
  const std::uint32_t high = __shfl_sync(~0U, word, static_cast<int>((bit / 32 + 1) % 32));
  const std::uint32_t mask = width == 32 ? ~0U : (1U << width) - 1;
  const std::uint32_t value = __funnelshift_r(low, high, bit % 32) & mask;
  const std::uint32_t number = group * 32 + lane;
  if (number < count)
    anchors[blockIdx.y * count + number] = static_cast<std::int32_t>(unzigzag32(value));
}

/// Sums along rows, a thread block each.
__global__ void __launch_bounds__(scan_threads)
    sum_rows(std::uint32_t* anchors, std::uint32_t length) {
  using Scan = cub::BlockScan<std::uint32_t, scan_threads>;
  __shared__ typename Scan::TempStorage storage;
  std::uint32_t* const row = anchors + std::uint64_t{blockIdx.x} * length;
  std::uint32_t before = 0;
  for (std::uint32_t start = 0; start < length; start += scan_threads) {
    const std::uint32_t i = start + threadIdx.x;
    std::uint32_t sum = i < length ? row[i] : 0;
    std::uint32_t all = 0;
    Scan(storage).InclusiveSum(sum, sum, all);
    if (i < length) row[i] = before + sum;
    before += all;
    __syncthreads();
  }
}

/// Sums along a slower axis, whose neighbours are `step` apart: a thread a column.
__global__ void __launch_bounds__(ItemPolicy::threads)
    sum_columns(std::uint32_t* anchors, std::uint64_t columns, std::uint64_t step,
                std::uint32_t length) {
  const std::uint64_t column = ItemPolicy::first();
  if (column >= columns) return;
  std::uint32_t* at = anchors + column / step * step * length + column % step;
  std::uint32_t sum = 0;
  CUSZI_NO_UNROLL
  for (std::uint32_t i = 0; i < length; ++i, at += step) *at = sum += *at;
}

/// Frames that follow each other have as many rows and columns more.
void sum_differences(DeviceContext& gpu, const CellGrid& grid, unsigned frames,
                     std::int32_t* anchors) {
  auto* const sums = reinterpret_cast<std::uint32_t*>(anchors);
  const std::uint64_t all = frames * grid.count();
  sum_rows<<<grid_of(all / grid.tiles[2]), scan_threads, 0, gpu.stream()>>>(sums, grid.tiles[2]);
  check_launch("sum_rows");
  for (int axis = 1; axis >= 0; --axis) {
    const std::uint32_t length = grid.tiles[axis];
    if (length == 1) continue;
    launch_items(gpu, "sum_columns", all / length, sum_columns, sums, all / length, grid.step(axis),
                 length);
  }
}

}  // namespace

template <class T>
void find_anchors(DeviceContext& gpu, int rank, const PredictTasks<T>& frames) {
  with_cell_rank(rank, [&](auto shape) {
    frames.visit([&]<class Frames>(const Frames& tasks) {
      launch_items_of(gpu, "find_anchor", frames.count(), frames.list().front().grid.count(),
                      find_anchor<T, decltype(shape), Frames>, tasks);
    });
  });
}

PackedAnchors pack_anchors(DeviceContext& gpu, const CellGrid& grid, const std::int32_t* anchors,
                           unsigned frames) {
  const auto groups = static_cast<std::uint32_t>(ceil_div(grid.count(), anchor_group));
  const std::uint64_t all = std::uint64_t{frames} * groups;
  auto* const widths = gpu.take<std::uint8_t>(all);
  auto* const counts = gpu.take<std::uint32_t>(all);
  auto* const words = gpu.take<std::uint32_t>(all * 32);
  auto* const offsets = gpu.take<std::uint64_t>(all + 1);
  launch_items_of(gpu, "pack_groups", frames, std::uint64_t{groups} * 32, pack_groups, grid,
                  anchors, groups, widths, counts, words);
  exclusive_sums(gpu, counts, all, offsets);
  return {groups, widths, words, offsets};
}

AnchorSection::AnchorSection(const CellGrid& grid, Bytes section, std::uint32_t* told)
    : bytes(section.data()), flaws(told) {
  const std::uint64_t padded = ceil_div(ceil_div(grid.count(), anchor_group), 4) * 4;
  if (section.size() < padded || section.size() % 4 != 0) {
    throw ArchiveError("the anchors of a frame do not fit their section");
  }
  words = (section.size() - padded) / 4;
}

std::int32_t* unpack_anchors(DeviceContext& gpu, const CellGrid& grid,
                             const FrameTasks<AnchorSection>& sections) {
  const auto groups = static_cast<std::uint32_t>(ceil_div(grid.count(), anchor_group));
  const unsigned frames = sections.count();
  const std::uint64_t all = std::uint64_t{frames} * groups;
  auto* const counts = gpu.take<std::uint32_t>(all);
  auto* const offsets = gpu.take<std::uint64_t>(all + 1);
  auto* const anchors = gpu.take<std::int32_t>(frames * grid.count());
  sections.visit([&]<class Frames>(const Frames& tasks) {
    launch_items_of(gpu, "read_widths", frames, groups, read_widths<Frames>, tasks, groups, counts);
    exclusive_sums(gpu, counts, all, offsets);
    launch_items_of(gpu, "unpack_groups", frames, std::uint64_t{groups} * 32, unpack_groups<Frames>,
                    tasks, groups, counts, offsets, grid.count(), anchors);
  });
  sum_differences(gpu, grid, frames, anchors);
  return anchors;
}

template void find_anchors(DeviceContext&, int, const PredictTasks<float>&);
template void find_anchors(DeviceContext&, int, const PredictTasks<double>&);

}  // namespace cuszi::gpu

#include <cub/block/block_scan.cuh>

#include "gpu/cells/values.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned warps = ItemPolicy::threads / 32;
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
template <class T, class Shape>
__global__ void __launch_bounds__(ItemPolicy::threads)
    find_anchor(CellGrid grid, CellsQuantizer<T> quantizer, RestoreRules<T> rules, const T* values,
                bool has_missing, std::int32_t* anchors) {
  const std::uint64_t number = ItemPolicy::first();
  const bool exists = number < grid.count();
  T value = 0;
  if (exists) {
    const CellTile tile = grid.tile<Shape>(number);
    value = values[grid.index(tile.first[0], tile.first[1], tile.first[2])];
  }
  if (has_missing) {
    unsigned missing = __ballot_sync(~0U, exists && quantizer.is_missing(value, rules));
    for (; missing != 0; missing &= missing - 1) {
      const unsigned lane = static_cast<unsigned>(__ffs(static_cast<int>(missing)) - 1);
      const T found =
          first_present<T, Shape>(grid, number - threadIdx.x % 32 + lane, quantizer, rules, values);
      if (threadIdx.x % 32 == lane) value = found;
    }
  }
  if (exists) anchors[number] = quantizer.anchor_of(value);
}

/// A warp a group of 32 differences.
__global__ void __launch_bounds__(ItemPolicy::threads)
    pack_groups(CellGrid grid, const std::int32_t* anchors, std::uint32_t groups,
                std::uint8_t* widths, std::uint32_t* counts, std::uint32_t* words) {
  __shared__ std::uint32_t packed[warps][32];
  const std::uint32_t group = warp_number();
  if (group >= groups) return;
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
  words[group * 32 + lane] = own[lane];
  if (lane != 0) return;
  widths[group] = static_cast<std::uint8_t>(width);
  counts[group] = width;
}

/// A warp a group.
__global__ void __launch_bounds__(ItemPolicy::threads)
    store_groups(PackedAnchors packed, std::byte* out) {
  const std::uint32_t group = warp_number();
  const std::uint32_t padded = (packed.groups + 3) / 4 * 4;
  if (group >= padded) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint8_t width = group < packed.groups ? packed.widths[group] : 0;
  if (lane == 0) out[group] = std::byte{width};
  auto* const words = reinterpret_cast<std::uint32_t*>(out + padded);
  if (lane < width) words[packed.offsets[group] + lane] = packed.words[group * 32 + lane];
}

__global__ void __launch_bounds__(ItemPolicy::threads)
    read_widths(const std::byte* section, std::uint32_t groups, std::uint32_t* counts,
                std::uint32_t* flaws) {
  const std::uint64_t group = ItemPolicy::first();
  if (group >= groups) return;
  const auto width = static_cast<std::uint32_t>(section[group]);
  if (width > 32) atomicOr(flaws, bad_anchors);
  counts[group] = width <= 32 ? width : 0;
}

/// A warp a group.
__global__ void __launch_bounds__(ItemPolicy::threads)
    unpack_groups(const std::byte* words, std::uint64_t all_words, std::uint32_t groups,
                  const std::uint32_t* widths, const std::uint64_t* offsets, std::uint32_t count,
                  std::int32_t* anchors, std::uint32_t* flaws) {
  const std::uint32_t group = warp_number();
  if (group >= groups) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t width = widths[group];
  if (offsets[groups] != all_words) {
    if (lane == 0) atomicOr(flaws, bad_anchors);
    return;
  }
  const std::byte* const own = words + 4 * offsets[group];
  const std::uint32_t word =
      lane < width ? static_cast<std::uint32_t>(get_bytes(own + 4 * lane, 4)) : 0;
  const unsigned bit = lane * width;
  const std::uint32_t low = __shfl_sync(~0U, word, static_cast<int>(bit / 32 % 32));
  const std::uint32_t high = __shfl_sync(~0U, word, static_cast<int>((bit / 32 + 1) % 32));
  const std::uint32_t mask = width == 32 ? ~0U : (1U << width) - 1;
  const std::uint32_t value = __funnelshift_r(low, high, bit % 32) & mask;
  const std::uint32_t number = group * 32 + lane;
  if (number < count) anchors[number] = static_cast<std::int32_t>(unzigzag32(value));
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
    sum_columns(std::uint32_t* anchors, std::uint32_t columns, std::uint32_t step,
                std::uint32_t length) {
  const std::uint64_t column = ItemPolicy::first();
  if (column >= columns) return;
  std::uint32_t* at = anchors + column / step * step * length + column % step;
  std::uint32_t sum = 0;
  CUSZI_NO_UNROLL
  for (std::uint32_t i = 0; i < length; ++i, at += step) *at = sum += *at;
}

void sum_differences(DeviceContext& gpu, const CellGrid& grid, std::int32_t* anchors) {
  auto* const sums = reinterpret_cast<std::uint32_t*>(anchors);
  sum_rows<<<grid_of(grid.count() / grid.tiles[2]), scan_threads, 0, gpu.stream()>>>(sums,
                                                                                     grid.tiles[2]);
  check_launch("sum_rows");
  for (int axis = 1; axis >= 0; --axis) {
    const std::uint32_t length = grid.tiles[axis];
    if (length == 1) continue;
    const std::uint32_t columns = grid.count() / length;
    launch_items(gpu, "sum_columns", columns, sum_columns, sums, columns, grid.step(axis), length);
  }
}

}  // namespace

template <class T>
std::int32_t* find_anchors(DeviceContext& gpu, const CellGrid& grid, int rank,
                           const CellsQuantizer<T>& quantizer, const FrameInput<T>& frame) {
  auto* const anchors = gpu.take<std::int32_t>(grid.count());
  with_cell_rank(rank, [&](auto shape) {
    launch_items(gpu, "find_anchor", grid.count(), find_anchor<T, decltype(shape)>, grid, quantizer,
                 frame.rules, frame.values, frame.missing_points != 0, anchors);
  });
  return anchors;
}

PackedAnchors pack_anchors(DeviceContext& gpu, const CellGrid& grid, const std::int32_t* anchors) {
  const auto groups = static_cast<std::uint32_t>(ceil_div(grid.count(), 32));
  auto* const widths = gpu.take<std::uint8_t>(groups);
  auto* const counts = gpu.take<std::uint32_t>(groups);
  auto* const words = gpu.take<std::uint32_t>(std::uint64_t{groups} * 32);
  auto* const offsets = gpu.take<std::uint64_t>(groups + 1);
  launch_items(gpu, "pack_groups", std::uint64_t{groups} * 32, pack_groups, grid, anchors, groups,
               widths, counts, words);
  exclusive_sums(gpu, counts, groups, offsets);
  return {groups, widths, words, offsets};
}

void store_anchors(DeviceContext& gpu, const PackedAnchors& packed, std::byte* out) {
  launch_items(gpu, "store_groups", (std::uint64_t{packed.groups} + 3) / 4 * 4 * 32, store_groups,
               packed, out);
}

const std::int32_t* unpack_anchors(DeviceContext& gpu, const CellGrid& grid, Bytes section) {
  const auto groups = static_cast<std::uint32_t>(ceil_div(grid.count(), 32));
  const std::uint64_t padded = (std::uint64_t{groups} + 3) / 4 * 4;
  if (section.size() < padded || section.size() % 4 != 0) {
    throw ArchiveError("the anchors of a frame do not fit their section");
  }
  auto* const counts = gpu.take<std::uint32_t>(groups);
  auto* const offsets = gpu.take<std::uint64_t>(groups + 1);
  auto* const anchors = gpu.take<std::int32_t>(grid.count());
  launch_items(gpu, "read_widths", groups, read_widths, section.data(), groups, counts,
               gpu.flaws());
  exclusive_sums(gpu, counts, groups, offsets);
  launch_items(gpu, "unpack_groups", std::uint64_t{groups} * 32, unpack_groups,
               section.data() + padded, (section.size() - padded) / 4, groups, counts, offsets,
               grid.count(), anchors, gpu.flaws());
  sum_differences(gpu, grid, anchors);
  return anchors;
}

template std::int32_t* find_anchors(DeviceContext&, const CellGrid&, int,
                                    const CellsQuantizer<float>&, const FrameInput<float>&);
template std::int32_t* find_anchors(DeviceContext&, const CellGrid&, int,
                                    const CellsQuantizer<double>&, const FrameInput<double>&);

}  // namespace cuszi::gpu

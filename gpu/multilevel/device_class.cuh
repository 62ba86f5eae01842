#pragma once

#include <span>

#include "core/multilevel/class_plan.hpp"
#include "gpu/multilevel/level_array.cuh"
#include "gpu/multilevel/tuning.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

/// Regions of thread blocks: boxes of whole tiles, consecutive in the pass. Edges are powers of
/// two.
struct RegionShape {
  std::uint32_t tile1_bits = 0;  ///< regions have one tile along axes 1 and 2
  std::uint32_t tile2_bits = 0;
  std::uint32_t tile3_bits = 0;
  std::uint32_t width_bits = 9;  ///< along axis 3

  CUSZI_HD std::uint32_t tile1() const { return 1U << tile1_bits; }
  CUSZI_HD std::uint32_t tile2() const { return 1U << tile2_bits; }
  CUSZI_HD std::uint32_t tile3() const { return 1U << tile3_bits; }
  CUSZI_HD std::uint32_t width() const { return 1U << width_bits; }

  static RegionShape of(const Grid& grid);
};

/// Compile-time geometry (cube_point.cuh).
enum class Geometry { any, slice, cube };

/// A class in its level's array.
template <class T>
struct DeviceClass {
  ClassPlan<T> plan;  ///< points, offsets and margins refer to the level's array
  Grid grid;          ///< see LevelPointer
  std::array<std::uint64_t, max_axes> regions{};  ///< along each axis
  std::array<std::array<std::int64_t, 4>, max_axes>
      line_offsets{};       ///< of neighbours at -3, -1, 1, 3 along odd axes
  Index4 row_steps{};       ///< between points along the slower axes, in the array
  Index4 original_steps{};  ///< along each axis, in the frame
};

template <class T>
struct PassView {
  LevelArray<T> array;
  const DeviceClass<T>* classes = nullptr;       ///< on the device
  const DeviceClass<T>* host_classes = nullptr;  ///< on the host
  std::uint32_t class_count = 0;
  RegionShape shape;
  Geometry geometry = Geometry::any;
  unsigned layered_axis = 0;  ///< of layered slices
  int reach = 0;              ///< of the stencils
  dim3 grid;                  ///< regions along axes 3 and 2, classes, regions along axes 1 and 0
};

template <class T>
DeviceClass<T> view_of(const ClassPlan<T>& plan, const Lattice& lattice, const LevelLayout& layout,
                       const RegionShape& shape);

template <class T>
PassView<T> view_of(const LevelArray<T>& array, std::span<const DeviceClass<T>> classes,
                    const DeviceClass<T>* on_device, const RegionShape& shape);

template <class T>
Geometry geometry_of(const Lattice& lattice, const DeviceClass<T>& view, const LevelLayout& layout);

struct Region {
  Index4 first;  ///< point, in the level's array
  std::uint32_t size1;
  std::uint32_t size2;
  std::uint32_t size3;
  std::uint64_t code_position;  ///< of the first point
  std::uint64_t row;            ///< offset of its row in the array
  std::uint64_t original;       ///< its offset in the frame

  __device__ std::uint32_t points() const { return size1 * size2 * size3; }
};

struct Spot {
  std::uint32_t at1;
  std::uint32_t at2;
  std::uint32_t at3;
  bool exists;  ///< regions at ends are smaller
};

/// Offsets in the level's array and the frame; code position in the pass.
struct PointPositions {
  std::uint64_t offset;
  std::uint64_t original;
  std::uint64_t code_position;
};

/// `number` counts regions along the axes.
template <class T>
__device__ Region region_at(const PassView<T>& pass, const DeviceClass<T>& view,
                            const Index4& number) {
  const PointClass& points = view.plan.points;
  const RegionShape& shape = pass.shape;
  const Index4& count = points.count;
  const Index4 at{number[0], number[1] << shape.tile1_bits, number[2] << shape.tile2_bits,
                  number[3] << shape.width_bits};
  Region region;
  const auto size = [&](unsigned axis, std::uint32_t most) {
    const std::uint64_t rest = count[axis] - at[axis];
    return rest < most ? static_cast<std::uint32_t>(rest) : most;
  };
  region.size1 = size(1, shape.tile1());
  region.size2 = size(2, shape.tile2());
  region.size3 = size(3, shape.width());
  region.code_position = points.start +
                         ((at[0] * count[1] + at[1]) * count[2] + region.size1 * at[2]) * count[3] +
                         region.size1 * region.size2 * at[3];
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    region.first[axis] = points.first[axis] + at[axis] * points.step[axis];
  }
  region.row = pass.array.layout.row_of(region.first);
  region.original = pass.array.layout.original_offset_of(region.first);
  return region;
}

/// Calls work(region) for this block's regions.
template <class T, class Work>
__device__ void for_each_region(const PassView<T>& pass, const DeviceClass<T>& view,
                                const Work& work) {
  const std::uint64_t along3 = view.regions[3];
  const std::uint64_t slabs = view.plan.points.count[0] * view.regions[1];
  if (blockIdx.x >= view.regions[2] * along3) return;
  const auto row = blockIdx.x / static_cast<std::uint32_t>(along3);
  const auto column = blockIdx.x % static_cast<std::uint32_t>(along3);
  for (std::uint64_t slab = blockIdx.z; slab < slabs; slab += gridDim.z) {
    const std::uint64_t slice = slab / view.regions[1];
    work(region_at(pass, view, {slice, slab - slice * view.regions[1], row, column}));
  }
}

__device__ inline Spot spot_of(const RegionShape& shape, const Region& region, std::uint32_t i) {
  Spot spot;
  spot.at3 = i & (shape.width() - 1);
  i >>= shape.width_bits;
  spot.at2 = i & (shape.tile2() - 1);
  spot.at1 = i >> shape.tile2_bits;
  spot.exists = spot.at1 < region.size1 && spot.at2 < region.size2 && spot.at3 < region.size3;
  return spot;
}

/// Index of a point among the region's codes.
__device__ inline std::uint32_t code_position_in_region(const RegionShape& shape,
                                                        const Region& region, const Spot& spot) {
  const std::uint32_t in_tile = spot.at3 & (shape.tile3() - 1);
  const std::uint32_t tile = spot.at3 - in_tile;
  const std::uint32_t rest = region.size3 - tile;
  const std::uint32_t width = rest < shape.tile3() ? rest : shape.tile3();
  return region.size1 * region.size2 * tile + (spot.at1 * region.size2 + spot.at2) * width +
         in_tile;
}

/// In the level's array.
template <class T>
__device__ Index4 position_of(const DeviceClass<T>& view, const Region& region, const Spot& spot) {
  const Index4& step = view.plan.points.step;
  return {region.first[0], region.first[1] + spot.at1 * step[1],
          region.first[2] + spot.at2 * step[2], region.first[3] + spot.at3 * step[3]};
}

/// In the level's array.
template <class T>
__device__ std::uint64_t offset_of(const PassView<T>& pass, const DeviceClass<T>& view,
                                   const Region& region, const Spot& spot) {
  return region.row + spot.at1 * view.row_steps[1] + spot.at2 * view.row_steps[2] +
         pass.array.layout.place_in_row(region.first[3] + spot.at3 * view.plan.points.step[3]);
}

/// In the frame.
template <class T>
__device__ std::uint64_t original_offset_of(const DeviceClass<T>& view, const Region& region,
                                            const Spot& spot) {
  return region.original + spot.at1 * view.original_steps[1] + spot.at2 * view.original_steps[2] +
         spot.at3 * view.original_steps[3];
}

/// `code_position` is relative to the region.
template <class T>
__device__ PointPositions positions_of(const PassView<T>& pass, const DeviceClass<T>& view,
                                       const Region& region, const Spot& spot,
                                       std::uint32_t code_position) {
  return {offset_of(pass, view, region, spot), original_offset_of(view, region, spot),
          region.code_position + code_position};
}

/// A value per point of a region, exchanged between threads and code positions.
template <class Value>
struct Staged {
  Value values[RegionPolicy::points];

  __device__ void load(const Value* from, std::uint32_t count) {
    for (std::uint32_t i = threadIdx.x; i < count; i += RegionPolicy::threads) values[i] = from[i];
  }
  __device__ void store(Value* to, std::uint32_t count) const {
    for (std::uint32_t i = threadIdx.x; i < count; i += RegionPolicy::threads) to[i] = values[i];
  }
};

/// Copies to shared memory.
template <class State>
__device__ void share(const State& from, State& shared) {
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % sizeof(std::uint64_t) == 0);
  const auto* const words = reinterpret_cast<const std::uint64_t*>(&from);
  auto* const copies = reinterpret_cast<std::uint64_t*>(&shared);
  for (unsigned i = threadIdx.x; i < sizeof(State) / sizeof *words; i += blockDim.x) {
    copies[i] = words[i];
  }
  __syncthreads();
}

/// Calls work(view, region) for this block's regions.
template <class T, class RegionWork>
__device__ void for_each_region(const PassView<T>& pass, const RegionWork& work) {
  __shared__ Uninitialised<DeviceClass<T>> shared;
  share(pass.classes[blockIdx.y], shared.get());
  const DeviceClass<T>& view = shared.get();
  for_each_region(pass, view, [&](const Region& region) { work(view, region); });
}

/// Distributes regions: blocks along z take classes, those along x regions.
template <class T, class RegionWork>
__device__ void share_out_regions(const PassView<T>& pass, const RegionWork& work) {
  __shared__ Uninitialised<DeviceClass<T>> shared;
  if (blockIdx.z >= pass.class_count) return;
  share(pass.classes[blockIdx.z], shared.get());
  const DeviceClass<T>& view = shared.get();
  const std::uint64_t of_slab = view.regions[2] * view.regions[3];
  const std::uint64_t regions = view.regions[0] * view.regions[1] * of_slab;
  for (std::uint64_t i = blockIdx.x; i < regions; i += gridDim.x) {
    const std::uint64_t slab = i / of_slab;
    const std::uint64_t rest = i % of_slab;
    work(view, region_at(pass, view,
                         {slab / view.regions[1], slab % view.regions[1], rest / view.regions[3],
                          rest % view.regions[3]}));
  }
}

/// Calls f(spot, code position in the region) for this thread's points.
template <class F>
__device__ void for_each_spot(const RegionShape& shape, const Region& region, const F& f) {
  for (std::uint32_t i = threadIdx.x; i < RegionPolicy::points; i += RegionPolicy::threads) {
    const Spot spot = spot_of(shape, region, i);
    if (spot.exists) f(spot, code_position_in_region(shape, region, spot));
  }
}

}  // namespace cuszi::gpu

#pragma once

#include <span>

#include "core/class_plan.hpp"
#include "gpu/level_array.cuh"

namespace cuszi::gpu {

/// How thread blocks share out the points of a class: each takes regions, which are boxes of whole
/// tiles that follow each other in the pass.
struct RegionShape {
  static constexpr unsigned points = 512;
  static constexpr unsigned block_threads = 128;

  std::uint32_t tile1 = 1;  ///< a region has one tile along axes 1 and 2
  std::uint32_t tile2 = 1;
  std::uint32_t tile3 = 1;
  std::uint32_t width = points;  ///< along axis 3; a power of two, as all of these

  static RegionShape of(const Grid& grid);
};

/// A class of a level as kernels see it.
template <class T>
struct ClassView {
  ClassPlan<T> plan;  ///< points, offsets and margins are those in the level's array
  Grid grid;          ///< see LevelPointer
  std::array<std::uint64_t, max_axes> regions{};  ///< along each axis
  std::array<std::array<std::int64_t, 4>, max_axes>
      line_offsets{};  ///< along odd axes, of the neighbours at -3, -1, 1, 3
};

/// A pass as kernels see it.
template <class T>
struct PassView {
  LevelArray<T> array;
  const ClassView<T>* classes = nullptr;       ///< on the device
  const ClassView<T>* host_classes = nullptr;  ///< the same
  std::uint32_t class_count = 0;
  RegionShape shape;
  bool is_cube = false;  ///< see cube_point.cuh
  int reach = 0;         ///< of its stencils
  dim3 grid;  ///< of thread blocks: regions along axes 3 and 2, classes, regions along axes 1 and 0
};

/// A class in its level's array, whose points are `spacing` apart along lattice axes.
template <class T>
ClassView<T> view_of(const ClassPlan<T>& plan, const Lattice& lattice, const LevelLayout& layout,
                     const RegionShape& shape);

/// A pass of these classes, which stand on the device too.
template <class T>
PassView<T> view_of(const LevelArray<T>& array, std::span<const ClassView<T>> classes,
                    const ClassView<T>* on_device, const RegionShape& shape);

/// Whether a class of a level is one of those of cube_point.cuh.
template <class T>
bool is_cube(const Lattice& lattice, const ClassView<T>& view, const LevelLayout& layout);

/// A region of a class.
struct Region {
  Index4 first;  ///< its first point, in units of the class's steps
  std::uint32_t size1;
  std::uint32_t size2;
  std::uint32_t size3;
  std::uint64_t place;  ///< of its first point in the pass

  __device__ std::uint32_t points() const { return size1 * size2 * size3; }
};

/// A point of a region.
struct Spot {
  std::uint32_t at1;
  std::uint32_t at2;
  std::uint32_t at3;
  bool exists;  ///< regions at the ends of a class are smaller
};

/// Calls work(region) for the regions of a class that are this thread block's.
template <class T, class Work>
__device__ void for_each_region(const RegionShape& shape, const ClassView<T>& view,
                                const Work& work) {
  const Index4& count = view.plan.points.count;
  const std::uint64_t along3 = view.regions[3];
  const std::uint64_t slabs = count[0] * view.regions[1];
  if (blockIdx.x >= view.regions[2] * along3) return;
  const auto row = blockIdx.x / static_cast<std::uint32_t>(along3);
  const auto column = blockIdx.x % static_cast<std::uint32_t>(along3);
  for (std::uint64_t slab = blockIdx.z; slab < slabs; slab += gridDim.z) {
    const std::uint64_t j0 = slab / view.regions[1];
    Region region;
    region.first = {j0, (slab - j0 * view.regions[1]) * shape.tile1,
                    std::uint64_t{row} * shape.tile2, std::uint64_t{column} * shape.width};
    const auto size = [&](unsigned axis, std::uint32_t most) {
      const std::uint64_t rest = count[axis] - region.first[axis];
      return rest < most ? static_cast<std::uint32_t>(rest) : most;
    };
    region.size1 = size(1, shape.tile1);
    region.size2 = size(2, shape.tile2);
    region.size3 = size(3, shape.width);
    region.place =
        view.plan.points.start +
        ((j0 * count[1] + region.first[1]) * count[2] + region.size1 * region.first[2]) * count[3] +
        region.size1 * region.size2 * region.first[3];
    work(region);
  }
}

/// The i-th of RegionShape::points.
__device__ inline Spot spot_of(const RegionShape& shape, const Region& region, std::uint32_t i) {
  Spot spot;
  spot.at3 = i % shape.width;
  i /= shape.width;
  spot.at2 = i % shape.tile2;
  spot.at1 = i / shape.tile2;
  spot.exists = spot.at1 < region.size1 && spot.at2 < region.size2 && spot.at3 < region.size3;
  return spot;
}

/// How many points of the region come before this one in the pass.
__device__ inline std::uint32_t place_of(const RegionShape& shape, const Region& region,
                                         const Spot& spot) {
  const std::uint32_t in_tile = spot.at3 % shape.tile3;
  const std::uint32_t tile = spot.at3 - in_tile;
  const std::uint32_t rest = region.size3 - tile;
  const std::uint32_t width = rest < shape.tile3 ? rest : shape.tile3;
  return region.size1 * region.size2 * tile + (spot.at1 * region.size2 + spot.at2) * width +
         in_tile;
}

/// Coordinates in the level's array.
template <class T>
__device__ Index4 position_of(const ClassView<T>& view, const Region& region, const Spot& spot) {
  const PointClass& points = view.plan.points;
  return {points.first[0] + region.first[0] * points.step[0],
          points.first[1] + (region.first[1] + spot.at1) * points.step[1],
          points.first[2] + (region.first[2] + spot.at2) * points.step[2],
          points.first[3] + (region.first[3] + spot.at3) * points.step[3]};
}

/// What a block's threads know of a region's points, one value each, on its way between threads and
/// the places of a pass.
template <class Value>
struct Staged {
  Value values[RegionShape::points];

  __device__ void load(const Value* from, std::uint32_t count) {
    for (std::uint32_t i = threadIdx.x; i < count; i += RegionShape::block_threads)
      values[i] = from[i];
  }
  __device__ void store(Value* to, std::uint32_t count) const {
    for (std::uint32_t i = threadIdx.x; i < count; i += RegionShape::block_threads)
      to[i] = values[i];
  }
};

/// Calls work(view, region, each) for all regions of a pass, where each(f) calls f(spot, place in
/// the region) for the thread's points.
template <class T, class RegionWork>
__device__ void for_each_region(const PassView<T>& pass, const RegionWork& work) {
  const ClassView<T>& view = pass.classes[blockIdx.y];
  for_each_region(pass.shape, view, [&](const Region& region) { work(view, region); });
}

/// Calls f(spot, place in the region) for this thread's points of a region.
template <class F>
__device__ void for_each_spot(const RegionShape& shape, const Region& region, const F& f) {
  for (std::uint32_t i = threadIdx.x; i < RegionShape::points; i += RegionShape::block_threads) {
    const Spot spot = spot_of(shape, region, i);
    if (spot.exists) f(spot, place_of(shape, region, spot));
  }
}

}  // namespace cuszi::gpu

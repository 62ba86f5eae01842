#pragma once

#include "gpu/multilevel/cube_point.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

/// Thread blocks take runs of regions of a class along z. Grid x: regions along x; y: regions along
/// y (cubes) or runs (slices); z: runs x slowest axis (cubes) or slices, class by class.
struct CubeGrid {
  std::uint32_t run = 1;       ///< regions per thread block
  std::uint32_t runs = 0;      ///< per slice or cube
  std::uint32_t slabs = 0;     ///< blocks along z, per class
  std::uint32_t first_number;  ///< in CubeClasses
  unsigned layered_axis;       ///< of enclosed slices
  dim3 blocks;

  template <class T>
  CubeGrid(const Device& device, const PassView<T>& pass, unsigned first)
      : first_number(first), layered_axis(pass.layered_axis) {
    Index4 regions{};
    for (std::uint32_t c = 0; c < pass.class_count; ++c) {
      for (unsigned axis = 0; axis < max_axes; ++axis) {
        regions[axis] = std::max(regions[axis], pass.host_classes[c].regions[axis]);
      }
    }
    if (regions[0] * regions[1] * regions[2] * regions[3] >=
        device.multiprocessors * CubePolicy::enough_regions)
      run = CubePolicy::longest_run;
    const bool is_slice = pass.geometry == Geometry::slice;
    runs = static_cast<std::uint32_t>(ceil_div(regions[is_slice ? 2 : 1], run));
    slabs = grid_of(regions[0] * (is_slice ? regions[1] : runs));
    blocks =
        dim3(grid_of(regions[3]), is_slice ? runs : grid_of(regions[2]), slabs * pass.class_count);
  }

  /// Index in the pass.
  __device__ std::uint32_t class_here() const { return blockIdx.z / slabs; }
  __device__ std::uint32_t slab() const { return blockIdx.z % slabs; }
};

template <class Classes, class T>
struct CubePass {
  LevelArray<T> array;
  CubeGrid grid;
  int reach;
  ClassPlan<T> plans[Classes::count];

  CubePass(const Device& device, const PassView<T>& pass, unsigned first)
      : array(pass.array), grid(device, pass, first), reach(pass.reach) {
    for (std::uint32_t c = 0; c < pass.class_count; ++c) {
      plans[first + c] = pass.host_classes[c].plan;
    }
  }
};

/// A thread has points k = 0 .. 3 along z. Regions of cubes have 4 x 4 x 32 points, a row of x per
/// warp; those of slices 8 x 64, the second half of the threads four rows further.
template <class Class, class T>
class RegionOfClass {
 public:
  __device__ RegionOfClass(const LevelLayout& layout, const PointClass& points,
                           const CubeGrid& grid)
      : count_(points.count),
        row_(threadIdx.x / width),
        x_(threadIdx.x % width),
        slab_(grid.slab()),
        run_(grid.run),
        tile_((Class::is_slice ? blockIdx.y : slab_ % grid.runs) * grid.run),
        start_(points.start) {
    const std::uint32_t z =
        2 * (depth * tile_ + (Class::is_slice ? cube_points * row_ : 0)) + odd(0);
    const std::uint32_t y = Class::is_slice ? 0 : 2 * (4 * blockIdx.y + row_) + odd(1);
    const std::uint32_t x = 2 * (width * blockIdx.x + x_) + odd(2);
    place_ = {static_cast<std::int32_t>(z),
              static_cast<std::int32_t>(y),
              static_cast<std::int32_t>(x),
              static_cast<std::int32_t>(layout.extents[z_axis]),
              Class::is_slice ? 1 : static_cast<std::int32_t>(layout.extents[2]),
              static_cast<std::int32_t>(layout.extents[3])};
    Index4 at{slab_ / grid.runs, z, y, x};
    bool is_there = width * std::uint64_t{blockIdx.x} < count_[3];
    if (Class::is_slice) {
      is_there = is_there && slab_ < count_[0] * count_[1];
      const std::uint64_t number0 = slab_ / count_[1];
      const std::uint64_t number1 = slab_ % count_[1];
      at = {points.first[0] + number0 * points.step[0], points.first[1] + number1 * points.step[1],
            z, x};
    }
    if (!Class::is_slice) is_there = is_there && 4 * std::uint64_t{blockIdx.y} < count_[2];
    if (!is_there) run_ = 0;
    if (Class::is_enclosed) find_slices(layout, points, grid.layered_axis, at);
    slice_ = Class::is_slice ? slab_ : static_cast<std::uint32_t>(at[0]);
    offset_ = static_cast<std::uint32_t>(layout.row_of(at)) + odd(2) * layout.odd + x / 2;
    original_ = static_cast<std::uint32_t>(layout.original_offset_of(at));
    step_ = static_cast<std::uint32_t>(2 * layout.strides[z_axis]);
    original_step_ = static_cast<std::uint32_t>(2 * layout.original_strides[z_axis]);
    if (!Class::is_slice) size2_ = size_of(2, 4 * blockIdx.y, 4);
    size3_ = size_of(3, width * blockIdx.x, width);
    enter();
  }

  /// Classes differ in size; next() goes to the next region.
  __device__ bool exists(std::uint32_t i) const {
    return i < run_ && depth * std::uint64_t{tile_} < count_[z_axis];
  }
  __device__ void next() {
    ++tile_;
    place_.z += static_cast<std::int32_t>(2 * depth);
    offset_ += depth * step_;
    original_ += depth * original_step_;
    enter();
  }

  /// Calls f(borders) for points that reach `reach` along odd axes, `even_reach` along even ones.
  template <class F>
  __device__ void with_borders(int reach, int even_reach, const F& f) const {
    const auto is_inner = [&](int axis, std::int32_t at, std::int32_t first_back,
                              std::int32_t last_ahead, std::int32_t extent) {
      const int margin = odd(static_cast<unsigned>(axis)) != 0 ? reach : even_reach;
      return at - first_back >= margin && at + last_ahead + margin < extent;
    };
    constexpr auto last_z = static_cast<std::int32_t>(2 * (depth - 1));
    constexpr auto last_x = static_cast<std::int32_t>(2 * (width - 1));
    const auto z = Class::is_slice ? static_cast<std::int32_t>(2 * cube_points * row_) : 0;
    const auto y = static_cast<std::int32_t>(2 * row_);
    const auto x = static_cast<std::int32_t>(2 * x_);
    const bool is_full = points() == RegionPolicy::points;
    if (!is_full || !is_inner(0, place_.z, z, last_z - z, place_.depth) ||
        (!Class::is_slice && !is_inner(1, place_.y, y, 6 - y, place_.height))) {
      f(std::integral_constant<Borders, Borders::all>{});
    } else if (!is_inner(2, place_.x, x, last_x - x, place_.width)) {
      f(std::integral_constant<Borders, Borders::rows>{});
    } else {
      f(std::integral_constant<Borders, Borders::none>{});
    }
  }

  __device__ const CubePlace& place() const { return place_; }
  template <class V>
  __device__ CubeReader<Class, V> reader(const LevelLayout& layout, const V* array) const {
    return {array,
            offset_,
            static_cast<std::uint32_t>(layout.strides[z_axis]),
            static_cast<std::uint32_t>(layout.strides[2]),
            layout.odd,
            to_low_slice_,
            to_high_slice_};
  }

  __device__ bool has(int k) const { return static_cast<std::uint32_t>(k) < mine_; }
  /// In the level's array, and in the frame.
  __device__ std::uint32_t offset(int k) const {
    return offset_ + static_cast<std::uint32_t>(k) * step_;
  }
  __device__ std::uint32_t original(int k) const {
    return original_ + static_cast<std::uint32_t>(k) * original_step_;
  }
  __device__ std::uint32_t code_position_in_region(int k) const {
    const std::uint32_t in_tile = x_ % edge;
    const std::uint32_t tile = x_ - in_tile;
    const std::uint32_t across = size3_ - tile < edge ? size3_ - tile : edge;
    const std::uint32_t row = Class::is_slice ? cube_points * row_ + static_cast<std::uint32_t>(k)
                                              : static_cast<std::uint32_t>(k) * size2_ + row_;
    return size1_ * size2_ * tile + row * across + in_tile;
  }
  /// First code position, and number of points.
  __device__ std::uint64_t first() const { return first_; }
  __device__ std::uint32_t points() const { return size1_ * size2_ * size3_; }

 private:
  static constexpr unsigned z_axis = Class::is_slice ? 2 : 1;  ///< in the frame
  static constexpr std::uint32_t depth = Class::is_slice ? 8 : 4;
  static constexpr std::uint32_t width = Class::is_slice ? 64 : 32;
  static constexpr std::uint32_t edge = Class::is_slice ? 8 : 4;  ///< of a tile

  static constexpr std::uint32_t odd(unsigned axis) {
    return Class::is_odd(static_cast<int>(axis)) ? 1 : 0;
  }

  /// The last slice may be enclosed on one side only, which then counts twice.
  __device__ void find_slices(const LevelLayout& layout, const PointClass& points, unsigned axis,
                              const Index4& at) {
    const std::uint64_t distance = points.unit[axis];
    const auto step = static_cast<std::uint32_t>(distance * layout.strides[axis]);
    to_low_slice_ = at[axis] >= distance ? 0 - step : step;
    to_high_slice_ = at[axis] + distance < layout.extents[axis] ? step : 0 - step;
  }

  __device__ std::uint32_t size_of(unsigned axis, std::uint32_t first, std::uint32_t most) const {
    const std::uint64_t rest = count_[axis] - first;
    return rest < most ? static_cast<std::uint32_t>(rest) : most;
  }
  __device__ void enter() {
    const std::uint32_t first = depth * tile_;
    if (Class::is_slice) {
      size2_ = size_of(2, first, depth);
      const std::uint32_t behind = size2_ > cube_points * row_ ? size2_ - cube_points * row_ : 0;
      mine_ = x_ >= size3_ ? 0 : behind < cube_points ? behind : cube_points;
      first_ = start_ + (slice_ * count_[2] + first) * count_[3] + size2_ * (width * blockIdx.x);
    } else {
      size1_ = size_of(1, first, depth);
      mine_ = row_ < size2_ && x_ < size3_ ? size1_ : 0;
      first_ = start_ +
               ((slice_ * count_[1] + first) * count_[2] + size1_ * (4 * blockIdx.y)) * count_[3] +
               size1_ * size2_ * (width * blockIdx.x);
    }
  }

  const Index4& count_;
  std::uint32_t row_;  ///< along y (cubes), or group of four rows (slices)
  std::uint32_t x_;
  std::uint32_t slab_;
  std::uint32_t run_;
  std::uint32_t slice_;
  std::uint32_t tile_;
  std::uint64_t start_;
  CubePlace place_;
  std::uint32_t offset_;
  std::uint32_t original_;
  std::uint32_t step_;
  std::uint32_t original_step_;
  std::uint32_t mine_;              ///< number of existing points
  std::uint32_t to_low_slice_ = 0;  ///< in the level's array
  std::uint32_t to_high_slice_ = 0;
  std::uint32_t size1_ = 1;
  std::uint32_t size2_;
  std::uint32_t size3_;
  std::uint64_t first_;
};

template <class T, class F>
void with_cube_pass(const Device& device, const PassView<T>& pass, const F& f) {
  with_classes(pass, [&](auto classes, unsigned first) {
    f(CubePass<decltype(classes), T>(device, pass, first));
  });
}

template <class Classes, class T, class F>
__device__ void visit_tile(const CubePass<Classes, T>& pass, const F& f) {
  Classes::visit(pass.grid.first_number + pass.grid.class_here(), [&](auto of, auto number) {
    const ClassPlan<T>& plan = pass.plans[number];
    f(RegionOfClass<decltype(of), T>(pass.array.layout, plan.points, pass.grid), plan);
  });
}

/// Values of a region, copied 8 bytes at a time if aligned.
template <class Value>
struct CubeStage {
  static constexpr std::uint32_t in_word = 8 / sizeof(Value);

  alignas(8) Value values[RegionPolicy::points];

  __device__ void load(const Value* from, std::uint32_t count) { copy(from, values, count); }
  __device__ void store(Value* to, std::uint32_t count) const { copy(values, to, count); }

 private:
  __device__ static void copy(const Value* from, Value* to, std::uint32_t count) {
    const auto other =
        reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
    if (other % 8 == 0 && count == RegionPolicy::points) {
      const auto* const words = reinterpret_cast<const std::uint64_t*>(from);
      auto* const out = reinterpret_cast<std::uint64_t*>(to);
      for (std::uint32_t i = threadIdx.x; i < RegionPolicy::points / in_word;
           i += RegionPolicy::threads) {
        out[i] = words[i];
      }
    } else {
      for (std::uint32_t i = threadIdx.x; i < count; i += RegionPolicy::threads) to[i] = from[i];
    }
  }
};

}  // namespace cuszi::gpu

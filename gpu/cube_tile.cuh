#pragma once

#include "gpu/cube_point.cuh"

namespace cuszi::gpu {

/// How the regions of a class of a cube are shared out: a thread block takes some that follow each
/// other along the slowest of the three axes. Blocks: regions along x and y, runs of regions.
struct CubeGrid {
  static constexpr std::uint32_t longest_run = 4;
  static constexpr std::uint64_t enough_regions = 132 * 64;  ///< to keep a device busy with runs

  std::uint32_t run = 1;   ///< regions of a thread block
  std::uint32_t runs = 0;  ///< of one index of the slowest of four axes
  dim3 blocks;

  template <class T>
  explicit CubeGrid(const ClassView<T>& view) {
    const auto& regions = view.regions;
    if (regions[0] * regions[1] * regions[2] * regions[3] >= enough_regions) run = longest_run;
    runs = static_cast<std::uint32_t>(ceil_div(regions[1], run));
    blocks = dim3(grid_of(regions[3]), grid_of(regions[2]), grid_of(regions[0] * runs));
  }
};

/// A region of a class and what one thread has of it: the points k = 0 .. 3 along z at one y and x.
template <unsigned odd_axes, class T>
class CubeTile {
 public:
  __device__ CubeTile(const LevelLayout& layout, const PointClass& points, const CubeGrid& grid)
      : count_(points.count),
        y_(threadIdx.x / 32),
        x_(threadIdx.x % 32),
        run_(grid.run),
        slice_(blockIdx.z / grid.runs),
        tile_(blockIdx.z % grid.runs * grid.run),
        start_(points.start) {
    const std::uint32_t y = 2 * (4 * blockIdx.y + y_) + odd(1);
    const std::uint32_t x = 2 * (32 * blockIdx.x + x_) + odd(2);
    const std::uint32_t z = 8 * tile_ + odd(0);
    place_ = {static_cast<std::int32_t>(z),
              static_cast<std::int32_t>(y),
              static_cast<std::int32_t>(x),
              static_cast<std::int32_t>(layout.extents[1]),
              static_cast<std::int32_t>(layout.extents[2]),
              static_cast<std::int32_t>(layout.extents[3])};
    offset_ = slice_ * layout.strides[0] + z * layout.strides[1] + y * layout.strides[2] +
              odd(2) * layout.odd + x / 2;
    original_ = slice_ * layout.original_strides[0] + z * layout.original_strides[1] +
                y * layout.original_strides[2] + x * layout.original_strides[3];
    step_ = 2 * layout.strides[1];
    original_step_ = 2 * layout.original_strides[1];
    size2_ = size_of(2, 4 * blockIdx.y, 4);
    size3_ = size_of(3, 32 * blockIdx.x, 32);
    enter();
  }

  /// Whether there is a region; next() goes on to that behind it.
  __device__ bool exists(std::uint32_t i) const {
    return i < run_ && 4 * std::uint64_t{tile_} < count_[1];
  }
  __device__ void next() {
    ++tile_;
    place_.z += 8;
    offset_ += cube_points * step_;
    original_ += cube_points * original_step_;
    enter();
  }

  /// Calls f(borders) with those that the region is near to, if points look `reach` away along odd
  /// axes and `even_reach` along even ones.
  template <class F>
  __device__ void with_borders(int reach, int even_reach, const F& f) const {
    const auto is_inner = [&](int axis, std::int32_t at, std::int32_t first_back,
                              std::int32_t last_ahead, std::int32_t extent) {
      const int margin = odd(static_cast<unsigned>(axis)) != 0 ? reach : even_reach;
      return at - first_back >= margin && at + last_ahead + margin < extent;
    };
    const auto y = static_cast<std::int32_t>(2 * y_);
    const auto x = static_cast<std::int32_t>(2 * x_);
    const bool is_full = size1_ == 4 && size2_ == 4 && size3_ == 32;
    if (!is_full || !is_inner(0, place_.z, 0, 6, place_.depth) ||
        !is_inner(1, place_.y, y, 6 - y, place_.height)) {
      f(std::integral_constant<Borders, Borders::all>{});
    } else if (!is_inner(2, place_.x, x, 62 - x, place_.width)) {
      f(std::integral_constant<Borders, Borders::rows>{});
    } else {
      f(std::integral_constant<Borders, Borders::none>{});
    }
  }

  __device__ const CubePlace& place() const { return place_; }
  template <class V>
  __device__ CubeReader<odd_axes, V> reader(const LevelLayout& layout, const V* array) const {
    return {array, static_cast<std::uint32_t>(offset_),
            static_cast<std::uint32_t>(layout.strides[1]),
            static_cast<std::uint32_t>(layout.strides[2]), layout.odd};
  }

  __device__ bool has(int k) const { return static_cast<std::uint32_t>(k) < mine_; }
  /// Of the k-th point, in the level's array and in the frame's own one.
  __device__ std::uint32_t offset(int k) const {
    return offset_ + static_cast<std::uint32_t>(k) * step_;
  }
  __device__ std::uint32_t original(int k) const {
    return original_ + static_cast<std::uint32_t>(k) * original_step_;
  }
  /// Of the k-th point among those of the region in the pass.
  __device__ std::uint32_t place_in_region(int k) const {
    const std::uint32_t in_tile = x_ % 4;
    const std::uint32_t tile = x_ - in_tile;
    const std::uint32_t width = size3_ - tile < 4 ? size3_ - tile : 4;
    return size1_ * size2_ * tile + (static_cast<std::uint32_t>(k) * size2_ + y_) * width + in_tile;
  }
  /// Of the region's first point in the pass, and how many it has.
  __device__ std::uint64_t first() const { return first_; }
  __device__ std::uint32_t points() const { return size1_ * size2_ * size3_; }

 private:
  static constexpr std::uint32_t odd(unsigned axis) { return (odd_axes >> axis) & 1U; }

  __device__ std::uint32_t size_of(unsigned axis, std::uint32_t first, std::uint32_t most) const {
    const std::uint64_t rest = count_[axis] - first;
    return rest < most ? static_cast<std::uint32_t>(rest) : most;
  }
  __device__ void enter() {
    size1_ = size_of(1, 4 * tile_, 4);
    mine_ = y_ < size2_ && x_ < size3_ ? size1_ : 0;
    first_ =
        start_ +
        ((slice_ * count_[1] + 4 * tile_) * count_[2] + size1_ * (4 * blockIdx.y)) * count_[3] +
        size1_ * size2_ * (32 * blockIdx.x);
  }

  const Index4& count_;
  std::uint32_t y_;
  std::uint32_t x_;
  std::uint32_t run_;
  std::uint32_t slice_;
  std::uint32_t tile_;
  std::uint64_t start_;
  CubePlace place_;
  std::uint32_t offset_;
  std::uint32_t original_;
  std::uint32_t step_;
  std::uint32_t original_step_;
  std::uint32_t mine_;  ///< how many of the points there are
  std::uint32_t size1_;
  std::uint32_t size2_;
  std::uint32_t size3_;
  std::uint64_t first_;
};

/// Values of a region on their way between threads and places, 8 bytes at a time where they lie so.
template <class Value>
struct CubeStage {
  static constexpr std::uint32_t in_word = 8 / sizeof(Value);

  alignas(8) Value values[RegionShape::points];

  __device__ void load(const Value* from, std::uint32_t count) { copy(from, values, count); }
  __device__ void store(Value* to, std::uint32_t count) const { copy(values, to, count); }

 private:
  __device__ static void copy(const Value* from, Value* to, std::uint32_t count) {
    const auto other =
        reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
    if (other % 8 == 0 && count == RegionShape::points) {
      const auto* const words = reinterpret_cast<const std::uint64_t*>(from);
      auto* const out = reinterpret_cast<std::uint64_t*>(to);
      for (std::uint32_t i = threadIdx.x; i < RegionShape::points / in_word;
           i += RegionShape::block_threads) {
        out[i] = words[i];
      }
    } else {
      for (std::uint32_t i = threadIdx.x; i < count; i += RegionShape::block_threads)
        to[i] = from[i];
    }
  }
};

/// Calls f(odd axes) with those of a class, known when compiled.
template <class F>
void with_odd_axes(const PointClass& points, const F& f) {
  switch (points.odd >> 1) {  // the slowest of four axes is none of the three
    case 1: return f(std::integral_constant<unsigned, 1>{});
    case 2: return f(std::integral_constant<unsigned, 2>{});
    case 3: return f(std::integral_constant<unsigned, 3>{});
    case 4: return f(std::integral_constant<unsigned, 4>{});
    case 5: return f(std::integral_constant<unsigned, 5>{});
    case 6: return f(std::integral_constant<unsigned, 6>{});
    default: return f(std::integral_constant<unsigned, 7>{});
  }
}

}  // namespace cuszi::gpu

#pragma once

#include <cstdint>

#include "core/tiles.hpp"

namespace cuszi::gpu {

/// A tile in a warp: each lane has its 32 points in registers.
using WarpPoints = std::uint32_t[lane_points];

inline constexpr unsigned whole_warp = ~0U;

/// Which lanes are lower than this one.
__device__ inline std::uint32_t lanes_below(unsigned lane) { return (1U << lane) - 1; }

/// What the lane `distance` lower along an axis holds, 0 if there is none.
template <class Shape, int axis>
__device__ std::uint32_t from_lane_before(std::uint32_t value, unsigned lane, int distance) {
  const std::uint32_t other =
      __shfl_up_sync(whole_warp, value, static_cast<unsigned>(distance * Shape::lane_stride(axis)));
  return Shape::lane_along(static_cast<int>(lane), axis) >= distance ? other : 0;
}

/// Differences to the point before along an axis; before a tile all is 0.
template <class Shape, int axis>
__device__ void difference(WarpPoints& integers, unsigned lane) {
  constexpr int stride = Shape::point_stride(axis);
  constexpr int last = (Shape::block(axis) - 1) * stride;
#pragma unroll
  for (int first = 0; first < static_cast<int>(lane_points); ++first) {
    if (Shape::point_along(first, axis) != 0) continue;
    const std::uint32_t before = from_lane_before<Shape, axis>(integers[first + last], lane, 1);
#pragma unroll
    for (int point = first + last; point > first; point -= stride)
      integers[point] -= integers[point - stride];
    integers[first] -= before;
  }
}

/// The inverse: partial sums.
template <class Shape, int axis>
__device__ void sum(WarpPoints& integers, unsigned lane) {
  constexpr int stride = Shape::point_stride(axis);
  constexpr int last = (Shape::block(axis) - 1) * stride;
#pragma unroll
  for (int first = 0; first < static_cast<int>(lane_points); ++first) {
    if (Shape::point_along(first, axis) != 0) continue;
#pragma unroll
    for (int point = first + stride; point <= first + last; point += stride)
      integers[point] += integers[point - stride];
    if constexpr (Shape::lanes(axis) > 1) {
      std::uint32_t before = from_lane_before<Shape, axis>(integers[first + last], lane, 1);
#pragma unroll
      for (int distance = 1; distance < Shape::lanes(axis) - 1; distance *= 2)
        before += from_lane_before<Shape, axis>(before, lane, distance);
#pragma unroll
      for (int point = first; point <= first + last; point += stride) integers[point] += before;
    }
  }
}

/// The sum over the lower lanes, and over all.
struct WarpScan {
  std::uint32_t before;
  std::uint32_t all;
};
__device__ inline WarpScan scan_warp(std::uint32_t value, unsigned lane) {
  std::uint32_t sum = value;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t lower = __shfl_up_sync(whole_warp, sum, distance);
    if (lane >= distance) sum += lower;
  }
  return {sum - value, __shfl_sync(whole_warp, sum, 31)};
}

/// Where a tile's words and bytes begin in its chunk, and how large the chunk is.
struct TilePlace {
  std::uint32_t word;
  std::uint32_t byte;
  std::uint32_t chunk_bytes;  ///< without the filling of the last word
};

/// Of the chunk's tile `tile`, given the heads of all; every lane gets the same.
template <class T>
__device__ TilePlace place_of(const std::uint32_t* heads, unsigned tiles, unsigned tile,
                              unsigned lane) {
  const TileHead head = TileHead::from(lane < tiles ? heads[lane] : 0);
  const WarpScan words = scan_warp(lane < tiles ? head.words(sizeof(T) / 4) : 0, lane);
  const WarpScan bytes = scan_warp(lane < tiles ? head.bytes : 0, lane);
  const std::uint32_t byte_part = 4 * (tiles + words.all);
  return {tiles + __shfl_sync(whole_warp, words.before, static_cast<int>(tile)),
          byte_part + __shfl_sync(whole_warp, bytes.before, static_cast<int>(tile)),
          byte_part + bytes.all};
}

/// Where the rows of a lane's block lie in the field, as steps along its axes from its first point;
/// rows outside repeat the last one inside.
template <class Shape>
class LaneRows {
 public:
  __device__ LaneRows(const Extents3& extents, const Extents3& first, unsigned lane) {
    const auto at = [&](int axis) {
      return first[axis] + static_cast<unsigned>(Shape::lane_along(static_cast<int>(lane), axis) *
                                                 Shape::block(axis));
    };
    x_ = at(2);
    left_ = static_cast<std::int64_t>(extents[2]) - static_cast<std::int64_t>(x_);
    const std::uint64_t z = at(0);
    const std::uint64_t y = at(1);
#pragma unroll
    for (int i = 0; i < Shape::block(0); ++i) {
      const std::uint64_t slice = z + i < extents[0] ? z + i : extents[0] - 1;
      slice_[i] = slice * extents[1] * extents[2];
    }
#pragma unroll
    for (int i = 0; i < Shape::block(1); ++i) {
      const std::uint64_t row = y + i < extents[1] ? y + i : extents[1] - 1;
      row_[i] = row * extents[2];
    }
    const std::uint64_t slices = z < extents[0] ? extents[0] - z : 0;
    const std::uint64_t rows = y < extents[1] ? extents[1] - y : 0;
    slices_ = static_cast<int>(slices < Shape::block(0) ? slices : Shape::block(0));
    rows_ = static_cast<int>(rows < Shape::block(1) ? rows : Shape::block(1));
  }

  /// The field's index of the row of `point`, at x = 0.
  __device__ std::uint64_t start(int point) const {
    return slice_[Shape::point_along(point, 0)] + row_[Shape::point_along(point, 1)];
  }
  __device__ std::uint64_t x() const { return x_; }
  /// Points along x from x() on, perhaps none.
  __device__ std::int64_t left() const { return left_; }
  __device__ bool is_inside(int point) const {
    return Shape::point_along(point, 0) < slices_ && Shape::point_along(point, 1) < rows_ &&
           Shape::point_along(point, 2) < left_;
  }

 private:
  std::uint64_t x_;
  std::int64_t left_;
  std::uint64_t slice_[Shape::block(0)];
  std::uint64_t row_[Shape::block(1)];
  int slices_;
  int rows_;
};

/// Four neighbouring values, as one access.
template <class T>
struct alignas(16) FourValues {
  T value[4];
};

}  // namespace cuszi::gpu

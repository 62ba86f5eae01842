#pragma once

#include <cstdint>

#include "core/tiles/tiles.hpp"
#include "gpu/runtime/fours.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

/// One chunk per thread block, one tile per warp. `wide`: integers do not fit pairs.
template <class T, bool wide = false>
struct TilesPolicy {
  static constexpr unsigned tiles = chunk_tiles<T>;
  static constexpr unsigned threads = 32 * tiles;
  static constexpr unsigned encode_blocks = 4;             ///< per multiprocessor
  static constexpr unsigned decode_blocks = wide ? 4 : 5;  ///< per multiprocessor
  static constexpr unsigned loads = wide ? 12 : 4;         ///< of a thread at once, of codes
};

using WarpPoints = std::uint32_t[lane_points];

inline constexpr unsigned whole_warp = ~0U;

__device__ inline std::uint32_t lanes_below(unsigned lane) { return (1U << lane) - 1; }

/// Value of the lane `distance` lower along an axis, else 0.
template <class Shape, int axis>
__device__ std::uint32_t from_lane_before(std::uint32_t value, unsigned lane, int distance) {
  const std::uint32_t other =
      __shfl_up_sync(whole_warp, value, static_cast<unsigned>(distance * Shape::lane_stride(axis)));
  return Shape::lane_along(static_cast<int>(lane), axis) >= distance ? other : 0;
}

/// Differences to the previous point along an axis, 0 before the tile.
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

/// Inverse of difference(), by partial sums.
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

struct WarpScan {
  std::uint32_t before;
  std::uint32_t all;
};
__device__ inline std::uint32_t sum_below(std::uint32_t value, unsigned lane) {
  std::uint32_t sum = value;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t lower = __shfl_up_sync(whole_warp, sum, distance);
    if (lane >= distance) sum += lower;
  }
  return sum - value;
}
__device__ inline WarpScan scan_warp(std::uint32_t value, unsigned lane) {
  const std::uint32_t before = sum_below(value, lane);
  return {before, __shfl_sync(whole_warp, before + value, 31)};
}

struct TilePlace {
  std::uint32_t word;
  std::uint32_t byte;
  std::uint32_t byte_part;    ///< of the first tile
  std::uint32_t chunk_bytes;  ///< without padding
};

/// Eight planes of each group, a byte each.
struct PlaneBytes {
  std::uint32_t low[4];
  std::uint32_t high[4];
};

/// Position of tile `tile` from the heads of `tiles` tiles; uniform in the warp.
template <class T>
__device__ TilePlace place_of(const std::uint32_t* heads, unsigned tiles, unsigned tile,
                              unsigned lane) {
  constexpr unsigned bytes_bits = 18;  // words need at most the other 14
  const TileHead head = TileHead::from(lane < tiles ? heads[lane] : 0);
  std::uint32_t sum = lane < tiles ? head.words(sizeof(T)) << bytes_bits | head.bytes : 0;
  const std::uint32_t own = sum;
#pragma unroll
  for (unsigned distance = 1; distance < chunk_tiles<T>; distance *= 2) {
    const std::uint32_t lower = __shfl_up_sync(whole_warp, sum, distance);
    if (lane >= distance) sum += lower;
  }
  const std::uint32_t all = __shfl_sync(whole_warp, sum, chunk_tiles<T> - 1);
  const std::uint32_t before = __shfl_sync(whole_warp, sum - own, static_cast<int>(tile));
  constexpr std::uint32_t bytes_mask = (1U << bytes_bits) - 1;
  const std::uint32_t byte_part = 4 * (tiles + (all >> bytes_bits));
  return {tiles + (before >> bytes_bits), byte_part + (before & bytes_mask), byte_part,
          byte_part + (all & bytes_mask)};
}

/// Below 2^31 by a constant, by multiplication.
class Divisor {
 public:
  explicit Divisor(std::uint32_t divisor)
      : shift_(31 + std::bit_width(divisor - 1)),
        factor_(
            static_cast<std::uint32_t>(((std::uint64_t{1} << shift_) + divisor - 1) / divisor)) {}
  __device__ std::uint32_t operator()(std::uint32_t number) const {
    return static_cast<std::uint32_t>((std::uint64_t{number} * factor_) >> shift_);
  }

 private:
  int shift_;
  std::uint32_t factor_;
};

/// A lane's points inside the field along each axis; may be negative.
struct PointsInside {
  int along[3];

  template <class Shape>
  __device__ bool has(int point) const {
    return Shape::point_along(point, 0) < along[0] && Shape::point_along(point, 1) < along[1] &&
           Shape::point_along(point, 2) < along[2];
  }
};

/// Positions of tiles and points, without divisions.
template <class Shape>
class TileMap {
 public:
  /// Throws DeviceError for too many tiles.
  explicit TileMap(const TileGrid& grid)
      : across_y_(static_cast<std::uint32_t>(grid.tiles[1])),
        across_x_(static_cast<std::uint32_t>(grid.tiles[2])),
        by_y_(across_y_),
        by_x_((grid_of(grid.count), across_x_)),
        row_(grid.extents[2]),
        slice_(grid.extents[1] * grid.extents[2]) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      end_[axis] = static_cast<std::uint32_t>(grid.tiles[axis]) - 1;
      left_at_end_[axis] = static_cast<int>(grid.extents[axis] - end_[axis] * grid.tile[axis]);
    }
  }

  struct Tile {
    std::uint32_t along[3];
  };
  __device__ Tile operator[](std::uint64_t tile) const {
    const auto number = static_cast<std::uint32_t>(tile);
    const std::uint32_t row = by_x_(number);
    const std::uint32_t slice = by_y_(row);
    return {{slice, row - slice * across_y_, number - row * across_x_}};
  }

  __device__ static Extents3 first_point(const Tile& tile) {
    return {tile.along[0] * Shape::extents[0], tile.along[1] * Shape::extents[1],
            tile.along[2] * Shape::extents[2]};
  }

  __device__ PointsInside inside(const Tile& tile, unsigned lane) const {
    PointsInside result;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      result.along[axis] = (tile.along[axis] < end_[axis] ? length(axis) : left_at_end_[axis]) -
                           Shape::lane_along(static_cast<int>(lane), axis) * Shape::block(axis);
    }
    return result;
  }
  __device__ bool is_whole(const Tile& tile) const {
    bool whole = true;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis)
      whole &= tile.along[axis] < end_[axis] || left_at_end_[axis] == length(axis);
    return whole;
  }

  __device__ std::uint64_t first_index(const Tile& tile, unsigned lane) const {
    const auto at = [&](int axis) {
      const auto step = static_cast<unsigned>(Shape::block(axis));
      return static_cast<std::uint64_t>(tile.along[axis]) * static_cast<unsigned>(length(axis)) +
             static_cast<unsigned>(Shape::lane_along(static_cast<int>(lane), axis)) * step;
    };
    return at(0) * slice_ + at(1) * row_ + at(2);
  }
  __device__ std::uint64_t offset_of(int point) const {
    return static_cast<unsigned>(Shape::point_along(point, 0)) * slice_ +
           static_cast<unsigned>(Shape::point_along(point, 1)) * row_ +
           static_cast<unsigned>(Shape::point_along(point, 2));
  }

  /// Outside the field, the offset of the nearest point inside.
  __device__ std::int64_t clamped_offset_of(int point, const PointsInside& inside) const {
    const auto at = [&](int axis) {
      const int here = Shape::point_along(point, axis);
      return static_cast<std::int64_t>(here < inside.along[axis] ? here : inside.along[axis] - 1);
    };
    return at(0) * static_cast<std::int64_t>(slice_) + at(1) * static_cast<std::int64_t>(row_) +
           at(2);
  }

 private:
  __device__ static constexpr int length(int axis) {
    return Shape::lanes(axis) * Shape::block(axis);
  }

  std::uint32_t across_y_;
  std::uint32_t across_x_;
  Divisor by_y_;
  Divisor by_x_;
  std::uint64_t row_;
  std::uint64_t slice_;
  std::uint32_t end_[3];
  int left_at_end_[3];
};

/// A lane's points are contiguous, so that 16-byte accesses by a warp are scattered.
template <class Shape>
inline constexpr bool are_in_line = Shape::block(2) == lane_points;

/// Exchanges half the points among four lanes, which then access 64 contiguous bytes.
template <class V>
__device__ void exchange_fours(V* half, unsigned lane) {
#pragma unroll
  for (int distance = 1; distance < 4; distance *= 2) {
    const bool is_upper = (lane & static_cast<unsigned>(distance)) != 0;
#pragma unroll
    for (int point = 0; point < static_cast<int>(lane_points) / 2; ++point) {
      if ((point / 4 & distance) != 0) continue;
      V& low = half[point];
      V& high = half[point + 4 * distance];
      const V other = __shfl_xor_sync(whole_warp, is_upper ? low : high, distance);
      low = is_upper ? other : low;
      high = is_upper ? high : other;
    }
  }
}
/// Position in the tile of a lane's four points after the exchange.
__device__ inline unsigned exchanged_place(unsigned lane, int point) {
  const auto number = static_cast<unsigned>(point);
  return ((lane & ~3U) + number / 4 % 4) * lane_points + number / 16 * 16 + 4 * (lane & 3U);
}

}  // namespace cuszi::gpu

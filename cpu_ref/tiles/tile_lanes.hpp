#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/tiles/tiles.hpp"
#include "cpu_ref/base/prefetch.hpp"

namespace cuszi::cpu {

/// One number per lane; loops over lanes vectorise.
using Lanes = std::uint32_t[tile_lanes];
template <class T>
using PointsOf = T[lane_points][tile_lanes];
using LanePoints = PointsOf<std::uint32_t>;

/// All ones in lanes with a neighbour `distance` lower along an axis, else 0.
template <class Shape, int axis, int distance>
struct HasLower {
  Lanes mask{};

  constexpr HasLower() {
    for (int lane = 0; lane < static_cast<int>(tile_lanes); ++lane)
      mask[lane] = Shape::lane_along(lane, axis) >= distance ? ~0U : 0;
  }
};
template <class Shape, int axis, int distance>
inline constexpr HasLower<Shape, axis, distance> has_lower;

/// The value `distance` lanes lower, else 0. Memory before `lanes` must be readable.
template <class Shape, int axis, int distance>
std::uint32_t lower(const Lanes& lanes, int lane) {
  const std::uint32_t* const first = lanes;
  return first[lane - distance * Shape::lane_stride(axis)] &
         has_lower<Shape, axis, distance>.mask[lane];
}

/// Calls f(first point) for each line of a lane's block.
template <class Shape, int axis, class F>
void for_each_line(const F& f) {
  for (int point = 0; point < static_cast<int>(lane_points); ++point)
    if (Shape::point_along(point, axis) == 0) f(point);
}

/// Differences to the previous point along an axis, 0 before the tile.
template <class Shape, int axis>
void difference(const LanePoints& from, LanePoints& to) {
  constexpr int stride = Shape::point_stride(axis);
  constexpr int last = (Shape::block(axis) - 1) * stride;
  static_assert(last > 0);  // ensures a readable row in front
  for_each_line<Shape, axis>([&](int first) {
    for (int lane = 0; lane < static_cast<int>(tile_lanes); ++lane)
      to[first][lane] = from[first][lane] - lower<Shape, axis, 1>(from[first + last], lane);
    for (int point = first + stride; point <= first + last; point += stride)
      for (unsigned lane = 0; lane < tile_lanes; ++lane)
        to[point][lane] = from[point][lane] - from[point - stride][lane];
  });
}

/// Adds lower lanes, for lines[1..]. Steps over all lines, so that loads do not wait for the
/// previous stores.
template <class Shape, int axis, int distance = 1, std::size_t rows>
void add_lower_lanes(Lanes (&lines)[rows]) {
  if constexpr (distance < Shape::lanes(axis) - 1) {
    Lanes sums[rows];
    for (std::size_t row = 1; row < rows; ++row)
      for (int lane = 0; lane < static_cast<int>(tile_lanes); ++lane)
        sums[row][lane] = lines[row][lane] + lower<Shape, axis, distance>(lines[row], lane);
    std::memcpy(lines[1], sums[1], (rows - 1) * sizeof(Lanes));
    add_lower_lanes<Shape, axis, 2 * distance>(lines);
  }
}

template <class Shape, int axis>
void sum(LanePoints& integers) {
  constexpr int stride = Shape::point_stride(axis);
  constexpr int last = (Shape::block(axis) - 1) * stride;
  for_each_line<Shape, axis>([&](int first) {
    for (int point = first + stride; point <= first + last; point += stride)
      for (unsigned lane = 0; lane < tile_lanes; ++lane)
        integers[point][lane] += integers[point - stride][lane];
  });
  if constexpr (Shape::lanes(axis) > 1) {
    constexpr std::size_t lines = lane_points / Shape::block(axis);
    Lanes before[1 + lines] = {};  // sums of all lower lanes, by line
    std::size_t row = 0;
    for_each_line<Shape, axis>([&](int first) {
      ++row;
      for (int lane = 0; lane < static_cast<int>(tile_lanes); ++lane)
        before[row][lane] = lower<Shape, axis, 1>(integers[first + last], lane);
    });
    add_lower_lanes<Shape, axis>(before);
    row = 0;
    for_each_line<Shape, axis>([&](int first) {
      ++row;
      for (int point = first; point <= first + last; point += stride)
        for (unsigned lane = 0; lane < tile_lanes; ++lane)
          integers[point][lane] += before[row][lane];
    });
  }
}

/// 4 x 4 values.
template <class T>
[[gnu::always_inline]] inline void transpose_four(T* const (&to)[4], const T* const (&from)[4]) {
  if constexpr (sizeof(T) == 4) {
    using Four [[gnu::vector_size(16)]] = T;
    Four rows[4];
    for (int i = 0; i < 4; ++i) std::memcpy(&rows[i], from[i], sizeof(Four));
    const Four low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
    const Four low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
    const Four high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
    const Four high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
    const Four columns[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                             __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                             __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                             __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
    for (int i = 0; i < 4; ++i) std::memcpy(to[i], &columns[i], sizeof(Four));
  } else {
    T values[4][4];
    for (int i = 0; i < 4; ++i) std::memcpy(values[i], from[i], sizeof values[i]);
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 4; ++k) to[i][k] = values[k][i];
  }
}

/// Copies a tile between field rows and lanes.
template <class Shape>
class TileRows {
 public:
  explicit TileRows(const TileGrid& grid) : grid_(grid) {
    for (int lane = 0; lane < static_cast<int>(tile_lanes); ++lane)
      lane_[lane] = offset_of(lane, 0);
    for (int point = 0; point < static_cast<int>(lane_points); ++point)
      point_[point] = offset_of(0, point);
  }

  template <class T>
  void load(const T* field, const Extents3& first, PointsOf<T>& values) const {
    if (!is_whole(first)) {
      for_each_place(first, [&](unsigned lane, unsigned point, std::uint64_t index, bool /*own*/) {
        values[point][lane] = field[index];
      });
      return;
    }
    for_each_four(field + index_of(first), values,
                  [](auto& in_field, auto& in_tile) { transpose_four<T>(in_tile, in_field); });
  }

  template <class T>
  void store(const PointsOf<T>& values, const Extents3& first, T* field) const {
    if (!is_whole(first)) {
      for_each_place(first, [&](unsigned lane, unsigned point, std::uint64_t index, bool own) {
        if (own) field[index] = values[point][lane];
      });
      return;
    }
    for_each_four(field + index_of(first), values,
                  [](auto& in_field, auto& in_tile) { transpose_four<T>(in_field, in_tile); });
  }

 private:
  static_assert(Shape::block(2) % 4 == 0);

  std::uint64_t index_of(const Extents3& at) const {
    return (at[0] * grid_.extents[1] + at[1]) * grid_.extents[2] + at[2];
  }
  std::uint64_t offset_of(int lane, int point) const {
    Extents3 at;
    for (int axis = 0; axis < 3; ++axis)
      at[static_cast<unsigned>(axis)] = static_cast<unsigned>(Shape::coordinate(lane, point, axis));
    return index_of(at);
  }

  bool is_whole(const Extents3& first) const {
    bool whole = true;
    for (unsigned axis = 0; axis < 3; ++axis)
      whole &= first[axis] + Shape::extents[axis] <= grid_.extents[axis];
    return whole;
  }

  /// Calls f with pointers to four points of four lanes. Prefetches the next tile: hardware
  /// prefetchers do not follow so many rows.
  template <class FieldT, class TileT, class F>
  void for_each_four(FieldT* field, TileT& values, const F& f) const {
    for (unsigned point = 0; point < lane_points; point += 4) {
      for (unsigned lane = 0; lane < tile_lanes; lane += 4) {
        FieldT* const here = field + point_[point];
        FieldT* const in_field[4] = {here + lane_[lane], here + lane_[lane + 1],
                                     here + lane_[lane + 2], here + lane_[lane + 3]};
        auto* const in_tile = &values[point][lane];
        std::remove_reference_t<decltype(*in_tile)>* const in_tiles[4] = {
            in_tile, in_tile + tile_lanes, in_tile + 2 * tile_lanes, in_tile + 3 * tile_lanes};
        prefetch<!std::is_const_v<FieldT>>(in_field[0] + Shape::extents[2]);
        f(in_field, in_tiles);
      }
    }
  }

  /// Calls f(lane, point, position in the field, inside). Outside the field its last values are
  /// repeated.
  template <class F>
  void for_each_place(const Extents3& first, const F& f) const {
    const auto& [depth, height, width] = grid_.extents;
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      for (unsigned point = 0; point < lane_points; point += 4) {
        const auto at = [&](int axis) {
          return first[static_cast<unsigned>(axis)] +
                 static_cast<unsigned>(
                     Shape::coordinate(static_cast<int>(lane), static_cast<int>(point), axis));
        };
        const std::uint64_t z = std::min(at(0), depth - 1);
        const std::uint64_t y = std::min(at(1), height - 1);
        const bool inside = z == at(0) && y == at(1);
        for (unsigned i = 0; i < 4; ++i) {
          const std::uint64_t x = std::min(at(2) + i, width - 1);
          f(lane, point + i, (z * height + y) * width + x, inside && x == at(2) + i);
        }
      }
    }
  }

  const TileGrid& grid_;
  std::uint64_t lane_[tile_lanes];    ///< offset of a lane's first point from the tile's
  std::uint64_t point_[lane_points];  ///< offset of a point from its lane's first
};

}  // namespace cuszi::cpu

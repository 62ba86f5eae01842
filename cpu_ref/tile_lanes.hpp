#pragma once

#include <cstdint>

#include "core/tiles.hpp"

namespace cuszi::cpu {

/// A number for each lane of a tile: loops over lanes are what a warp does at once.
using Lanes = std::uint32_t[tile_lanes];
/// A number for each point of each lane.
using LanePoints = std::uint32_t[lane_points][tile_lanes];

/// What the lanes `distance` lower along an axis hold, 0 in those that have no such neighbour.
template <class Shape, int axis>
void shift_lanes(const Lanes& from, int distance, Lanes& to) {
  const int stride = distance * Shape::lane_stride(axis);
  for (int lane = 0; lane < stride; ++lane) to[lane] = 0;
  for (int lane = stride; lane < static_cast<int>(tile_lanes); ++lane)
    to[lane] = Shape::lane_along(lane, axis) >= distance ? from[lane - stride] : 0;
}

/// Calls f with the first point of each line of a lane's block along an axis.
template <class Shape, int axis, class F>
void for_each_line(const F& f) {
  for (int point = 0; point < static_cast<int>(lane_points); ++point)
    if (Shape::point_along(point, axis) == 0) f(point);
}

/// Differences to the point before along an axis; before a tile all is 0.
template <class Shape, int axis>
void difference(LanePoints& integers) {
  constexpr int stride = Shape::point_stride(axis);
  constexpr int last = (Shape::block(axis) - 1) * stride;
  for_each_line<Shape, axis>([&](int first) {
    Lanes before;
    shift_lanes<Shape, axis>(integers[first + last], 1, before);
    for (int point = first + last; point > first; point -= stride)
      for (unsigned lane = 0; lane < tile_lanes; ++lane)
        integers[point][lane] -= integers[point - stride][lane];
    for (unsigned lane = 0; lane < tile_lanes; ++lane) integers[first][lane] -= before[lane];
  });
}

/// The inverse: partial sums.
template <class Shape, int axis>
void sum(LanePoints& integers) {
  constexpr int stride = Shape::point_stride(axis);
  constexpr int last = (Shape::block(axis) - 1) * stride;
  for_each_line<Shape, axis>([&](int first) {
    for (int point = first + stride; point <= first + last; point += stride)
      for (unsigned lane = 0; lane < tile_lanes; ++lane)
        integers[point][lane] += integers[point - stride][lane];
    if constexpr (Shape::lanes(axis) > 1) {
      Lanes before;  // sums of all lanes before
      shift_lanes<Shape, axis>(integers[first + last], 1, before);
      for (int distance = 1; distance < Shape::lanes(axis) - 1; distance *= 2) {
        Lanes farther;
        shift_lanes<Shape, axis>(before, distance, farther);
        for (unsigned lane = 0; lane < tile_lanes; ++lane) before[lane] += farther[lane];
      }
      for (int point = first; point <= first + last; point += stride)
        for (unsigned lane = 0; lane < tile_lanes; ++lane) integers[point][lane] += before[lane];
    }
  });
}

/// Where the rows of a tile's blocks lie in the field: calls f(first point of the row, lane, its
/// index in the field, points from there to the end of the field's row). Rows outside the field are
/// the last one inside.
template <class Shape, class F>
void for_each_row(const Extents3& extents, const Extents3& first, const F& f) {
  for (int lane = 0; lane < static_cast<int>(tile_lanes); ++lane) {
    for (int point = 0; point < static_cast<int>(lane_points); point += Shape::block(2)) {
      std::uint64_t at[3];
      for (unsigned axis = 0; axis < 3; ++axis) {
        const auto step =
            static_cast<unsigned>(Shape::coordinate(lane, point, static_cast<int>(axis)));
        at[axis] = std::min(first[axis] + step, extents[axis] - 1);
      }
      f(point, lane, (at[0] * extents[1] + at[1]) * extents[2] + at[2], extents[2] - at[2]);
    }
  }
}

}  // namespace cuszi::cpu

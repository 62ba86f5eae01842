#pragma once

#include "core/multilevel/schedule.hpp"

namespace cuszi {

// `j` are coordinates of a class's points in units of its steps. A class is cut into tiles in
// raster order; the points of a tile follow in raster order. Tiles have one point along the slowest
// axis.

/// Coordinates in the array.
CUSZI_HD inline Index4 position_of(const PointClass& points, const Index4& j) {
  Index4 at{};
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    at[axis] = points.first[axis] + j[axis] * points.step[axis];
  }
  return at;
}

CUSZI_HD inline std::uint64_t offset_of(const Grid& grid, const Index4& at) {
  return at[0] * grid.strides[0] + at[1] * grid.strides[1] + at[2] * grid.strides[2] +
         at[3] * grid.strides[3];
}

/// The i-th point in raster order.
CUSZI_HD inline Index4 raster_point(const PointClass& points, std::uint64_t i) {
  Index4 j{};
  for (unsigned axis = max_axes; axis-- > 0;) {
    j[axis] = i % points.count[axis];
    i /= points.count[axis];
  }
  return j;
}

/// Extent of a tile along one axis.
struct TileSpan {
  std::uint64_t first;
  std::uint64_t size;
};

CUSZI_HD inline TileSpan tile_span(std::uint64_t first, std::uint64_t tile, std::uint64_t count) {
  return {first, tile < count - first ? tile : count - first};
}

CUSZI_HD inline TileSpan tile_around(std::uint64_t j, std::uint64_t tile, std::uint64_t count) {
  return tile_span(j - j % tile, tile, count);
}

/// Index of a point's quant-code in its pass.
CUSZI_HD inline std::uint64_t code_position_of(const Grid& grid, const PointClass& points,
                                               const Index4& j) {
  const Index4& count = points.count;
  const TileSpan t1 = tile_around(j[1], grid.tile[1], count[1]);
  const TileSpan t2 = tile_around(j[2], grid.tile[2], count[2]);
  const TileSpan t3 = tile_around(j[3], grid.tile[3], count[3]);
  const std::uint64_t before_tile =
      ((j[0] * count[1] + t1.first) * count[2] + t1.size * t2.first) * count[3] +
      t1.size * t2.size * t3.first;
  const std::uint64_t in_tile =
      ((j[1] - t1.first) * t2.size + (j[2] - t2.first)) * t3.size + (j[3] - t3.first);
  return points.start + before_tile + in_tile;
}

/// Inverts code_position_of().
CUSZI_HD inline Index4 point_at_code_position(const Grid& grid, const PointClass& points,
                                              std::uint64_t code_position) {
  const Index4& count = points.count;
  const Index4& tile = grid.tile;
  std::uint64_t rest = code_position - points.start;
  const std::uint64_t plane = count[2] * count[3];
  const std::uint64_t j0 = rest / (count[1] * plane);
  rest -= j0 * count[1] * plane;
  const TileSpan t1 = tile_span(rest / (tile[1] * plane) * tile[1], tile[1], count[1]);
  rest -= t1.first * plane;
  const std::uint64_t row = t1.size * count[3];
  const TileSpan t2 = tile_span(rest / (tile[2] * row) * tile[2], tile[2], count[2]);
  rest -= t2.first * row;
  const std::uint64_t column = t1.size * t2.size;
  const TileSpan t3 = tile_span(rest / (tile[3] * column) * tile[3], tile[3], count[3]);
  rest -= t3.first * column;
  return {j0, t1.first + rest / (t2.size * t3.size), t2.first + rest / t3.size % t2.size,
          t3.first + rest % t3.size};
}

}  // namespace cuszi

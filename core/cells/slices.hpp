#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/dims.hpp"

namespace cuszi {

/// A frame whose tiles may be cubes or slices.
struct SliceCandidate {
  Extents3 extents;
  double half_step;
  double min;  ///< values outside [min, max] are missing
  double max;
};

/// The points whose values choose_tile_rank() takes, indices in raster order. None where there is
/// no choice: without three axes, and where a device would wait for the sample though slices are
/// unlikely, in cubes and in large frames whose slowest axis is about as long as the others.
std::vector<std::uint64_t> points_for_tile_rank(const Extents3& extents);

/// The rank of the tiles of a frame with three axes: 2 if its slices, each in tiles of 64 x 64
/// points, are estimated to take fewer bytes than cubes, else 3. Predicts sampled points of every
/// spacing from original values along each axis, and weighs the costs of the errors by the points
/// of the classes.
int choose_tile_rank(const SliceCandidate& frame, std::span<const double> values);

}  // namespace cuszi

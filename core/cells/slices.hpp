#pragma once

#include <cstdint>
#include <functional>
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
  /// The values at these points, indices in raster order.
  std::function<std::vector<double>(std::span<const std::uint64_t>)> values_at;
};

/// The rank of the tiles of a frame with three axes: 2 if its slices, each in tiles of 64 x 64
/// points, are estimated to take fewer bytes than cubes, else 3. Predicts sampled points of every
/// spacing from original values along each axis, and weighs the costs of the errors by the points
/// of the classes. Large frames whose slowest axis is as long as the others are cubes unseen, since
/// a device would wait for the sample.
int choose_tile_rank(const SliceCandidate& frame);

}  // namespace cuszi

#pragma once

#include <array>
#include <cstddef>

#include "core/base/hd.hpp"

namespace cuszi {

/// Number of partial sums of a sum that decides bytes. Partial sum k adds up the terms whose number
/// mod 32 is k, in ascending order; tree_sum() adds up the partial sums. A lane of a warp, or of a
/// vectorised loop, computes one of them.
inline constexpr std::size_t sum_lanes = 32;

using LaneSums = std::array<double, sum_lanes>;

/// Adds up partial sums in one fixed tree: the upper half is added to the lower half until one sum
/// is left.
CUSZI_HD inline double tree_sum(LaneSums lanes) {
  for (std::size_t half = sum_lanes / 2; half != 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

}  // namespace cuszi

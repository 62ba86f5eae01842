#pragma once

#include <array>
#include <cstddef>

#include "core/base/hd.hpp"

namespace cuszi {

/// Sums that decide bytes are made of so many partial ones, of the terms whose number mod 32 is the
/// same, in ascending order; tree_sum() adds them up. So each lane of a warp, or of a loop that is
/// vectorised, can make one of them.
inline constexpr std::size_t sum_lanes = 32;

using LaneSums = std::array<double, sum_lanes>;

/// The lower half plus the upper half, until one is left.
CUSZI_HD inline double tree_sum(LaneSums lanes) {
  for (std::size_t half = sum_lanes / 2; half != 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

}  // namespace cuszi

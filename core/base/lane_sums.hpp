#pragma once

#include <array>
#include <cstddef>

#include "core/base/hd.hpp"

namespace cuszi {

/// Partial sums of a sum that decides bytes. Partial sum k adds the terms k, k + 32, ... in order;
/// tree_sum() adds the partial sums.
inline constexpr std::size_t sum_lanes = 32;

using LaneSums = std::array<double, sum_lanes>;

/// Adds the partial sums in one fixed tree: repeatedly the upper half to the lower half.
CUSZI_HD inline double tree_sum(LaneSums lanes) {
  for (std::size_t half = sum_lanes / 2; half != 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

}  // namespace cuszi

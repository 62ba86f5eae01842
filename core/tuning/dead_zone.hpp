#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/base/cost.hpp"

namespace cuszi {

/// Numbers of codes 0 and +-1 in a context.
using RareCodes = std::array<std::uint64_t, 2>;

/// Errors below the dead zone (in steps) are coded as 0, if the saved bits are worth the
/// distortion. Half a step is plain rounding.
inline double dead_zone_for(const RareCodes& counts, double bound_over_half_step) {
  // ln(2) / 12: one more bit per value reduces a distortion of step^2 / 12 by 2 ln(2) times itself;
  // an error of z steps coded as 0 instead of 1 adds (2z - 1) step^2.
  constexpr double steps_per_bit = 0.0578;
  const auto odds = static_cast<std::int64_t>(log2_of(counts[0] + 1)) - log2_of(counts[1] + 1);
  const double bits = 1 + static_cast<double>(odds) / (1 << cost_bits);  // 1: the sign
  return std::min(bound_over_half_step / 2, 0.5 + steps_per_bit * std::max(bits, 0.0));
}

}  // namespace cuszi

#pragma once

#include <array>
#include <cstdint>

namespace cuszi {

/// Numbers of codes 0 and +-1 in a context.
using RareCodes = std::array<std::uint64_t, 2>;

/// Errors below the dead zone (in steps) are coded as 0, if the saved bits are worth the
/// distortion. Half a step is plain rounding.
double dead_zone_for(const RareCodes& counts, double bound_over_half_step);

}  // namespace cuszi

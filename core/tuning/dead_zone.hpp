#pragma once

#include <array>
#include <cstdint>

namespace cuszi {

/// How many codes of a context are 0, and how many +-1.
using RareCodes = std::array<std::uint64_t, 2>;

/// The dead zone of a context, in steps: an error below it is coded as 0, because the bits that
/// this saves are worth its distortion. `counts` are the codes 0 and +-1 of the context; the bound
/// is `bound_over_half_step` times the half step. Half a step means plain rounding.
double dead_zone_for(const RareCodes& counts, double bound_over_half_step);

}  // namespace cuszi

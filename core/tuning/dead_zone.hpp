#pragma once

#include <array>
#include <cstdint>

namespace cuszi {

/// How many codes of a context are 0, and how many +-1.
using RareCodes = std::array<std::uint64_t, 2>;

/// How far from the prediction, in steps, an error is better not coded in a context where so many
/// codes are 0 and +-1, if the bound is `bound_over_half_step` times the half step: where the bits
/// that this saves are worth its distortion. Half a step is plain rounding.
double dead_zone_for(const RareCodes& counts, double bound_over_half_step);

}  // namespace cuszi

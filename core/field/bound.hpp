#pragma once

#include <limits>

namespace cuszi {

/// The absolute bound where there is none: any finite value is that near.
inline constexpr double no_bound = std::numeric_limits<double>::max();

/// The absolute bound that a relative one stands for: share x (max - min), rounded down so that it
/// never exceeds the exact product. 0, lossless, where the range overflows: a share of that would
/// allow anything.
double share_of_range(double share, double min, double max);

}  // namespace cuszi

#pragma once

namespace cuszi {

/// The absolute bound that a relative one stands for: share x (max - min), rounded down so that it
/// never exceeds the exact product. 0, lossless, where the range overflows: a share of that would
/// allow anything.
double share_of_range(double share, double min, double max);

}  // namespace cuszi

#pragma once

#include "core/field/config.hpp"
#include "core/field/value_bound.hpp"

namespace cuszi {

/// Absolute bound share x (max - min), rounded down; 0 (lossless) if the range overflows, because
/// any error would be allowed.
double share_of_range(double share, double min, double max);

struct ValueRange {
  double min = 0;
  double max = 0;
  bool any = false;

  /// Infinite on overflow.
  double width() const { return max - min; }
  void add(double other_min, double other_max);
};

struct AskedBound {
  double bound = 0;  ///< in the sense of `mode`
  ErrorMode mode = ErrorMode::relative;
  double share = 0;  ///< of each value, for modes with two bounds
};

/// 0 (lossless) if it is relative and the range overflows.
ValueBound value_bound(const AskedBound& asked, const ValueRange& range);

}  // namespace cuszi

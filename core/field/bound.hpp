#pragma once

#include "core/field/config.hpp"
#include "core/field/value_bound.hpp"

namespace cuszi {

/// The absolute bound that a relative one stands for: share x (max - min), rounded down so that it
/// never exceeds the exact product. 0, lossless, where the range overflows: a share of that would
/// allow anything.
double share_of_range(double share, double min, double max);

/// The least and the greatest value that is not missing, if there is one.
struct ValueRange {
  double min = 0;
  double max = 0;
  bool any = false;

  /// The range's width; infinite if it exceeds the largest double.
  double width() const { return max - min; }
  void add(double other_min, double other_max);
};

/// A bound as a user asks for it.
struct AskedBound {
  double bound = 0;  ///< in the sense of the mode
  ErrorMode mode = ErrorMode::relative;
  double share = 0;  ///< of each value, of modes that have both
};

/// What an asked bound allows each value's error to be in a field of this range. A share of a range
/// that overflows would allow anything: such a field is lossless.
ValueBound value_bound(const AskedBound& asked, const ValueRange& range);

}  // namespace cuszi

#pragma once

#include "core/field/config.hpp"

namespace cuszi {

/// The least and the greatest value that is not missing, if there is one.
struct ValueRange {
  double min = 0;
  double max = 0;
  bool any = false;

  /// The range's width; infinite if it exceeds the largest double.
  double width() const { return max - min; }
  void add(double other_min, double other_max);
};

/// The absolute bound that `bound` means in a field of this range. A share of a range that
/// overflows would allow anything: such a field is lossless.
double absolute_bound(double bound, ErrorMode mode, const ValueRange& range);

}  // namespace cuszi

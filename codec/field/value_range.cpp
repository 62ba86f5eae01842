#include "codec/field/value_range.hpp"

#include <algorithm>

#include "core/base/floating_point.hpp"
#include "core/field/bound.hpp"

namespace cuszi {

void ValueRange::add(double other_min, double other_max) {
  min = any ? std::min(min, other_min) : other_min;
  max = any ? std::max(max, other_max) : other_max;
  any = true;
}

double absolute_bound(double bound, ErrorMode mode, const ValueRange& range) {
  const IeeeArithmetic arithmetic;
  return mode == ErrorMode::absolute ? bound : share_of_range(bound, range.min, range.max);
}

}  // namespace cuszi

#include "codec/value_range.hpp"

#include <algorithm>
#include <cmath>

namespace cuszi {

void ValueRange::add(double other_min, double other_max) {
  min = any ? std::min(min, other_min) : other_min;
  max = any ? std::max(max, other_max) : other_max;
  any = true;
}

double absolute_bound(double bound, ErrorMode mode, const ValueRange& range) {
  if (mode == ErrorMode::absolute) return bound;
  return std::isfinite(range.width()) ? bound * range.width() : 0;
}

}  // namespace cuszi

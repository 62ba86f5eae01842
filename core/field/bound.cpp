#include "core/field/bound.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/floating_point.hpp"

namespace cuszi {

namespace {

/// The largest double not above value + error, where |error| is value's rounding error.
double rounded_down(double value, double error) {
  return error < 0 ? std::nextafter(value, -HUGE_VAL) : value;
}

/// a - b rounded down, by Knuth's TwoDiff.
double difference_below(double a, double b) {
  const double difference = a - b;
  const double minus_b = difference - a;
  return rounded_down(difference, (a - (difference - minus_b)) - (b + minus_b));
}

/// a x b rounded down, for factors in [0.5, 1).
double product_below(double a, double b) { return rounded_down(a * b, product_error(a, b, a * b)); }

/// x 2^exponent rounded down, also if subnormal.
double scaled_below(double x, int exponent) {
  const double scaled = std::ldexp(x, exponent);
  return std::ldexp(scaled, -exponent) > x ? std::nextafter(scaled, 0) : scaled;
}

}  // namespace

double share_of_range(double share, double min, double max) {
  if (!std::isfinite(max - min) || !(max > min) || !(share > 0)) return 0;
  int share_exponent = 0;
  int range_exponent = 0;
  const double share_part = std::frexp(share, &share_exponent);
  const double range_part = std::frexp(difference_below(max, min), &range_exponent);
  return scaled_below(product_below(share_part, range_part), share_exponent + range_exponent);
}

void ValueRange::add(double other_min, double other_max) {
  min = any ? std::min(min, other_min) : other_min;
  max = any ? std::max(max, other_max) : other_max;
  any = true;
}

ValueBound value_bound(const AskedBound& asked, const ValueRange& range) {
  const IeeeArithmetic arithmetic;
  switch (asked.mode) {
    case ErrorMode::absolute: return asked.bound;
    case ErrorMode::relative: return share_of_range(asked.bound, range.min, range.max);
    case ErrorMode::pointwise: return ValueBound::of_share(asked.bound);
    case ErrorMode::absolute_or_pointwise:
      return {ValueBound::Kind::either, asked.bound, asked.share};
    default: return {ValueBound::Kind::both, asked.bound, asked.share};
  }
}

ValueBound ValueBound::within(double min, double max) const {
  if (kind == Kind::absolute || kind == Kind::share) return *this;
  constexpr double more = 1 + 0x1p-40;  // exceeds the products' rounding
  const double least = std::max({min, -max, 0.0}) * share;
  const double most = std::max(-min, max) * share;
  const bool share_is_larger = least >= bound * more && least > 0x1p-1000;
  const bool bound_is_larger = most * more <= bound;
  if (!share_is_larger && !bound_is_larger) return *this;
  return share_is_larger == (kind == Kind::either) ? of_share(share) : ValueBound(bound);
}

}  // namespace cuszi

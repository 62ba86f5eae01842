#include "core/field/quantizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cuszi {

namespace {

template <class T>
double half_step_in(double bound, double min, double max) {
  const double largest = std::max(std::fabs(min), std::fabs(max));
  const double smallest = std::min(std::fabs(min), std::fabs(max));
  const int exponent = std::max(std::ilogb(largest), std::numeric_limits<T>::min_exponent - 1);
  const double spacing = std::ldexp(1.0, exponent - (std::numeric_limits<T>::digits - 1));
  const double spacings = bound / spacing;
  const bool one_binade =
      (min > 0) == (max > 0) && smallest > 0 && std::ilogb(smallest) == std::ilogb(largest);
  const bool has_halves = spacings < 0x1p53;  // above, adding 0.5 has no effect
  if (one_binade && has_halves) return (std::floor(spacings) + 0.5) * spacing;
  return std::max(bound - spacing / 2, bound / 2);
}

}  // namespace

double half_step_for(double bound, double min, double max, DType dtype) {
  return with_type_of(dtype,
                      [&](auto zero) { return half_step_in<decltype(zero)>(bound, min, max); });
}

}  // namespace cuszi

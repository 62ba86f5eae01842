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

std::uint32_t choose_radius(const PredictorConfig& config, const ErrorOctaves& errors,
                            double step) {
  // Outliers cost about 50 bits: 2 in 8192 add about 0.01 bit per value.
  constexpr std::uint32_t tolerated = 2;
  constexpr std::uint32_t smallest = 512;
  if (config.radius) return *config.radius;
  std::uint32_t radius = smallest;
  while (radius < max_radius && errors.beyond(step * (radius - 1)) > tolerated) radius *= 2;
  return radius;
}

std::uint32_t read_radius(ByteReader& in) {
  const std::uint64_t radius = in.varint();
  if (radius == 0 || radius > max_radius) {
    throw ArchiveError("a radius of " + std::to_string(radius) + " is not in 1 to 32768");
  }
  return static_cast<std::uint32_t>(radius);
}

double read_half_step(ByteReader& in, DType dtype, bool may_be_negative) {
  const auto half_step = in.get<double>();
  if (!is_usable_half_step(may_be_negative ? std::fabs(half_step) : half_step, dtype)) {
    throw ArchiveError("a quantiser's step is not a positive number of the field's type");
  }
  return half_step;
}

}  // namespace cuszi

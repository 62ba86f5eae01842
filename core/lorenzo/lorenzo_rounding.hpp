#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/lorenzo/lorenzo.hpp"

namespace cuszi {

// Below this, 32-bit integers avoid slow conversions and comparisons.
inline constexpr double most_certain_integer = 1 << 27;

/// Values closer than this to their integer, in steps, are restored within the bound despite
/// rounding and the clamp to [min, max]. May be negative.
template <class T>
double certain_fraction(double step, double bound, double min, double max) {
  constexpr double rounding = 0x1p-20;  // exceeds that of all products in double
  const double largest = std::max(std::fabs(min), std::fabs(max));
  const int exponent = std::max(std::ilogb(largest), std::numeric_limits<T>::min_exponent - 1);
  const double spacing = std::ldexp(1.0, exponent - (std::numeric_limits<T>::digits - 1));
  return (bound - spacing / 2) / step - rounding;
}

/// By addition alone; see nearest_integer().
CUSZI_HD inline double double_of(std::int32_t integer) {
  constexpr double addend = IntegerBits<double>::zero;
  constexpr std::uint32_t middle = 1U << 31;
  const auto offset = static_cast<std::uint32_t>(integer) ^ middle;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(addend) | offset) - (addend + middle);
}

/// Equals the 64-bit version.
template <class T>
CUSZI_HD inline T dequantise(std::int32_t integer, double step, T min, T max) {
  return clamp_restored<T>(static_cast<T>(double_of(integer) * step), min, max);
}

}  // namespace cuszi

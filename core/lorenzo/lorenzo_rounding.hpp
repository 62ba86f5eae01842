#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/lorenzo/lorenzo.hpp"

namespace cuszi {

// What spares processors conversions and comparisons where integers stay below this.
inline constexpr double most_certain_integer = 1 << 27;

/// Values of a frame of this range come back within the bound if they are closer to their integer
/// than this, in steps: what is left of the bound after rounding the restored value to T, which is
/// clamped to the range. 0 or less if that is not so for any.
template <class T>
double certain_fraction(double step, double bound, double min, double max) {
  constexpr double rounding = 0x1p-20;  // more than that of all products in double
  const double largest = std::max(std::fabs(min), std::fabs(max));
  const int exponent = std::max(std::ilogb(largest), std::numeric_limits<T>::min_exponent - 1);
  const double spacing = std::ldexp(1.0, exponent - (std::numeric_limits<T>::digits - 1));
  return (bound - spacing / 2) / step - rounding;
}

/// An integer as double by addition alone, like nearest_integer().
CUSZI_HD inline double double_of(std::int32_t integer) {
  constexpr double addend = IntegerBits<double>::zero;
  constexpr std::uint32_t middle = 1U << 31;
  const auto offset = static_cast<std::uint32_t>(integer) ^ middle;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(addend) | offset) - (addend + middle);
}

/// The restored value of a pre-quantised integer of 32 bits, clamped to [min, max]. It equals that
/// of the same integer in 64 bits.
template <class T>
CUSZI_HD inline T dequantise(std::int32_t integer, double step, T min, T max) {
  return clamp_restored<T>(static_cast<T>(double_of(integer) * step), min, max);
}

}  // namespace cuszi

#include "tests/support/promises.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/field/stored_type.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/exact.hpp"

namespace cuszi::test {

namespace {

template <class T>
bool is_missing(T value, const FillValues& fills) {
  using Float = std::conditional_t<std::is_same_v<T, float>, float, double>;
  const auto number = static_cast<Float>(value);
  const auto is_value = [&](double fill) { return number == static_cast<Float>(fill); };
  return !std::isfinite(number) ||
         std::any_of(fills.values.begin(), fills.values.begin() + fills.count, is_value);
}

template <class T>
bool same_bits(T a, T b) {
  return std::bit_cast<StoredBits<T>>(a) == std::bit_cast<StoredBits<T>>(b);
}

/// Whether both are below, equal to or above each isovalue.
template <class T>
bool same_sides(T original, T restored, const IsoValues& isovalues) {
  return std::all_of(
      isovalues.values.begin(), isovalues.values.begin() + isovalues.count, [&](double isovalue) {
        const auto was = static_cast<double>(original);
        const auto now = static_cast<double>(restored);
        return (was < isovalue) == (now < isovalue) && (was > isovalue) == (now > isovalue);
      });
}

bool integers_differ_by_at_most(std::uint64_t larger, std::uint64_t smaller, double bound) {
  return bound >= 0x1p64 || larger - smaller <= static_cast<std::uint64_t>(bound);
}

template <class T>
bool keeps_absolutely(double bound, T original, T restored) {
  if constexpr (std::is_floating_point_v<T>) {
    return differ_by_at_most(original, restored, bound);
  } else {
    const auto [smaller, larger] = std::minmax(original, restored);
    return integers_differ_by_at_most(static_cast<std::uint64_t>(larger),
                                      static_cast<std::uint64_t>(smaller), bound);
  }
}

template <class T>
bool keeps_to(const ValueBound& bound, T original, T restored) {
  using Kind = ValueBound::Kind;
  const bool absolutely = keeps_absolutely(bound.bound, original, restored);
  if (bound.kind == Kind::absolute) return absolutely;
  const bool relatively = differ_by_at_most_share(static_cast<double>(original),
                                                  static_cast<double>(restored), bound.share);
  if (bound.kind == Kind::share) return relatively;
  return bound.kind == Kind::either ? absolutely || relatively : absolutely && relatively;
}

/// Whether values whose bits differ keep to a bound of their own.
template <class T>
bool keeps_to_own(double bound, T original, T restored) {
  return bound > 0 && (std::isinf(bound) || keeps_absolutely(bound, original, restored));
}

template <class T>
std::optional<std::uint64_t> first_broken(std::span<const T> original, std::span<const T> restored,
                                          const ValueRules& rules, const ValueBound& bound,
                                          std::span<const double> bounds, bool has_range) {
  const FillValues& fills = rules.fills;
  T min = std::numeric_limits<T>::max();
  T max = std::numeric_limits<T>::lowest();
  for (const T value : original) {
    if (is_missing(value, fills)) continue;
    min = std::min(min, value);
    max = std::max(max, value);
  }
  for (std::size_t i = 0; i < original.size(); ++i) {
    if (same_bits(original[i], restored[i])) continue;
    const bool kept = !is_missing(original[i], fills) && !is_missing(restored[i], fills) &&
                      (!has_range || (restored[i] >= min && restored[i] <= max)) &&
                      keeps_to(bound, original[i], restored[i]) &&
                      (bounds.empty() || keeps_to_own(bounds[i], original[i], restored[i])) &&
                      same_sides(original[i], restored[i], rules.isovalues);
    if (!kept) return i;
  }
  return std::nullopt;
}

/// By the definition of the formats; NaN take the half's bits as their own lowest.
double value_of_half(std::uint16_t bits, int fraction_bits) {
  const int exponent_bits = 15 - fraction_bits;
  const int exponents = 1 << exponent_bits;
  const int exponent = bits >> fraction_bits & (exponents - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits >> 15 != 0 ? -1 : 1;
  if (exponent == exponents - 1) {
    if (fraction == 0) return sign * std::numeric_limits<double>::infinity();
    return std::bit_cast<double>(std::uint64_t{0x7FF8000000000000} | bits);
  }
  const int bias = exponents / 2 - 1;
  const int significand = fraction + (exponent == 0 ? 0 : 1 << fraction_bits);
  return sign * std::ldexp(significand, std::max(exponent, 1) - bias - fraction_bits);
}

/// Numbers that compare exactly: those of halves are doubles.
template <class S>
auto numbers_of(Bytes bytes) {
  const auto stored = values_of<S>(bytes);
  if constexpr (std::is_arithmetic_v<S>) {
    return to_vector(stored);
  } else {
    std::vector<double> values;
    for (const S value : stored) values.push_back(value_of_half(value.bits, S::fraction_bits));
    return values;
  }
}

}  // namespace

std::optional<std::uint64_t> first_broken_promise(DType dtype, Bytes original, Bytes restored,
                                                  const ValueRules& rules, const ValueBound& bound,
                                                  std::span<const double> bounds, bool is_amended) {
  return with_stored_type_of(dtype, [&](auto zero) {
    const auto was = numbers_of<decltype(zero)>(original);
    const auto now = numbers_of<decltype(zero)>(restored);
    return first_broken<typename decltype(was)::value_type>(was, now, rules, bound, bounds,
                                                            !is_amended && !is_wide_integer(dtype));
  });
}

}  // namespace cuszi::test

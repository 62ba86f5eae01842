#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "core/base/dtype.hpp"
#include "core/field/bound.hpp"

namespace cuszi {

/// Multiples of a step. Values on it are invariant under repeated coding with an error below half a
/// step.
struct ValueGrid {
  enum class Kind : std::uint8_t {
    none = 0,
    even = 1,    ///< one step for all values
    binary = 2,  ///< a power of two per exponent
  };

  Kind kind = Kind::none;
  double step = 0;       ///< of `even`
  ValueBound bound = 0;  ///< of `binary`; limits half a step

  /// The widest grid with a value within the bound of any value, up to rounding.
  static ValueGrid of(const ValueBound& bound) {
    if (bound.goes_with_values()) return {Kind::binary, 0, bound};
    const double step = 2 * bound.bound;
    const bool is_usable = step > 0 && step <= std::numeric_limits<double>::max();
    return is_usable ? ValueGrid{Kind::even, step, 0} : ValueGrid{};
  }

  /// Values that are not finite, or too large for the grid, are unchanged.
  template <class T>
  T nearest(T value) const {
    const double width = step_at(magnitude_of(static_cast<double>(value)));
    return nearest(value, width, 1 / width);
  }

  template <class T>
  void move(std::span<T> values) const {
    if (kind == Kind::even) {
      const double per_step = 1 / step;
      for (T& value : values) value = nearest(value, step, per_step);
    } else {
      for (T& value : values) value = nearest(value);
    }
  }

 private:
  template <class T>
  static T nearest(T value, double width, double per_width) {
    constexpr double most_steps = 0x1p51;
    constexpr double rounding = 0x1.8p52;  // adding it rounds to integers
    const double scaled = static_cast<double>(value) * per_width;
    const double steps = (scaled + rounding) - rounding;
    return magnitude_of(scaled) < most_steps ? static_cast<T>(steps * width) : value;
  }

  /// 0 leaves values unchanged.
  double step_at(double magnitude) const {
    if (kind == Kind::even) return step;
    if (kind == Kind::none) return 0;
    const double of_share = bound.share * power_below(magnitude);
    switch (bound.kind) {
      case ValueBound::Kind::share: return power_below(2 * of_share);
      case ValueBound::Kind::either:
        return power_below(2 * (bound.bound > of_share ? bound.bound : of_share));
      default: return power_below(2 * (bound.bound < of_share ? bound.bound : of_share));
    }
  }

  /// The power of two at or below a normal number, else 0.
  static double power_below(double magnitude) {
    const auto exponent = std::bit_cast<std::uint64_t>(magnitude) & 0x7FF0000000000000U;
    return exponent == 0x7FF0000000000000U ? 0 : std::bit_cast<double>(exponent);
  }
};

}  // namespace cuszi

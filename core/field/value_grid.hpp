#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "core/field/bound.hpp"
#include "core/field/mask.hpp"
#include "core/field/stored_type.hpp"

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

  /// A wide grid with a value of the type within the bound of any value, up to rounding. Multiples
  /// of odd integers and of powers of two are integers and halves.
  static ValueGrid of(DType dtype, const ValueBound& bound) {
    if (bound.goes_with_values()) return {Kind::binary, 0, bound};
    double step = 2 * bound.bound;
    if (is_integer(dtype)) {
      step = 2 * std::floor(bound.bound) + 1;
    } else if (is_cast(dtype)) {
      step = power_below(step);
    }
    const bool is_usable = step > 0 && step <= std::numeric_limits<double>::max();
    return is_usable ? ValueGrid{Kind::even, step, 0} : ValueGrid{};
  }

  /// Moves a work value to the grid. Values that are not finite or too large for it are unchanged.
  template <class T>
  T nearest(T value) const {
    const double width = step_at(magnitude_of(static_cast<double>(value)));
    return nearest(value, width, 1 / width);
  }

  /// Moves stored values to the grid, fill values excepted.
  template <class S>
  void move(std::span<S> values, const FillValues& fills) const {
    if (kind == Kind::none) return;
    using Work = WorkOf<S>;
    const MissingTest<Work> missing(fills);
    const double per_step = 1 / step;
    for (S& value : values) {
      const auto work = converted_to<Work>(value);
      if (missing.is_fill(work)) continue;
      value = converted_to<S>(kind == Kind::even ? nearest(work, step, per_step) : nearest(work));
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
    return power_below(2 * bound.limit(bound.share * power_below(magnitude)));
  }

  /// The power of two at or below a normal number, else 0.
  static double power_below(double magnitude) {
    const auto exponent = std::bit_cast<std::uint64_t>(magnitude) & 0x7FF0000000000000U;
    return exponent == 0x7FF0000000000000U ? 0 : std::bit_cast<double>(exponent);
  }
};

}  // namespace cuszi

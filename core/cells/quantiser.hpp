#pragma once

#include <cmath>
#include <cstdint>

#include "core/cells/grid.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi {

inline constexpr int most_cell_code = 32767;

/// Half the step of a level: points of coarse levels, which others are predicted from, are finer.
CUSZI_HD inline double half_step_of_level(double half_step, int level) {
  constexpr double finer[] = {1, 1.15, 1.3225, 1.5};
  return half_step / finer[level < 3 ? level : 3];
}

/// A point as it was quantised.
template <class T>
struct CellValue {
  std::int16_t code;
  T steps;     ///< the code as a number
  T restored;  ///< less the background: what its neighbours see
};

/// Rounds prediction errors of values less the background to multiples of a level's step.
template <class T>
struct CellsQuantizer {
  T step[most_cell_levels];
  T inverse[most_cell_levels];
  T anchor_step;
  T anchor_inverse;
  T background;
  T low;  ///< restored values less the background are clamped to [low, high]
  T high;
  T min;  ///< and values to [min, max]
  T max;
  double bound;
  T certain;         ///< a rounded difference below this is within the bound
  RuleZone<T> zone;  ///< of values that rules matter to

  CellsQuantizer(double half_step, double subtracted, int levels, double range_min,
                 double range_max, double absolute_bound = 0, const RestoreRules<T>& rules = {})
      : step{},
        inverse{},
        background(static_cast<T>(subtracted)),
        low(static_cast<T>(range_min) - background),
        high(static_cast<T>(range_max) - background),
        min(static_cast<T>(range_min)),
        max(static_cast<T>(range_max)),
        bound(absolute_bound),
        certain(certainly_within<T>(absolute_bound)),
        zone(rules.zone(absolute_bound)) {
    for (int level = 0; level < levels; ++level) {
      const double half = half_step_of_level(half_step, level);
      step[level] = static_cast<T>(2 * half);
      inverse[level] = static_cast<T>(1 / (2 * half));
    }
    anchor_step = step[levels - 1];
    anchor_inverse = inverse[levels - 1];
  }

  CUSZI_HD CellValue<T> quantise(int level, T value, T predicted, bool has_code) const {
    using Bits = typename IntegerBits<T>::Bits;
    const T scaled = ((value - background) - predicted) * inverse[level];
    const bool in_range = has_code && magnitude_of(scaled) < T(most_cell_code + 0.5);
    const T rounded = (in_range ? scaled : T(0)) + IntegerBits<T>::rounding;
    const T steps = rounded - IntegerBits<T>::rounding;
    return {static_cast<std::int16_t>(std::bit_cast<Bits>(rounded)), steps,
            restored(level, predicted, steps)};
  }
  CUSZI_HD T restored(int level, T predicted, T steps) const {
    return clamp_restored<T>(predicted + steps * step[level], low, high);
  }
  /// The value that a reader gets, if it is not patched.
  CUSZI_HD T handed_out(T restored) const {
    return clamp_restored<T>(restored + background, min, max);
  }

  /// Whether a value surely may come back so. Else may_restore_to() decides.
  CUSZI_HD bool is_certain(T value, T restored) const {
    const bool near = magnitude_of(value - handed_out(restored)) < certain;
    return near && !zone.has(value);
  }
  /// Whether a value is missing: only values that are not lie between min and max.
  CUSZI_HD bool is_missing(T value, const RestoreRules<T>& rules) const {
    return !(value >= min && value <= max) || rules.fills.is_fill(value);
  }

  /// What stands for the anchor of a tile whose points are all missing.
  CUSZI_HD T middle() const { return T(0.5) * min + T(0.5) * max; }
  CUSZI_HD std::int32_t anchor_of(T value) const {
    const T scaled = (value - background) * anchor_inverse;
    return static_cast<std::int32_t>(nearest_integer(static_cast<double>(scaled)));
  }
  /// An anchor's value less the background.
  CUSZI_HD T anchor(std::int32_t integer) const {
    return clamp_restored<T>(static_cast<T>(integer) * anchor_step, low, high);
  }
};

}  // namespace cuszi

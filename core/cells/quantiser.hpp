#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/cells/grid.hpp"
#include "core/cells/params.hpp"
#include "core/field/local_bounds.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi {

inline constexpr int most_cell_code = 32767;

/// Half the step of a level: points of coarse levels, which others are predicted from, are finer.
CUSZI_HD inline double half_step_of_level(double half_step, int level) {
  constexpr double finer[] = {1, 1.15, 1.3225, 1.5};
  return half_step / finer[level < 3 ? level : 3];
}

/// What neighbours see has at most this magnitude, so that sums of weighted values are finite.
template <class T>
inline constexpr T most_cell_value = std::numeric_limits<T>::max() / 128;

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
  T step[most_cell_levels] = {};
  T inverse[most_cell_levels] = {};
  T anchor_step;
  T anchor_inverse;
  T background;
  T low;  ///< what neighbours see is clamped to [low, high]
  T high;
  T min;  ///< values are handed out clamped to [min, max]
  T max;
  double bound;
  T certain;         ///< a rounded difference below this is within the bound
  RuleZone<T> zone;  ///< of values that rules matter to

  CellsQuantizer(const CellsParams& params, double range_min, double range_max,
                 double absolute_bound = 0, const RestoreRules<T>& rules = {})
      : background(static_cast<T>(params.background)),
        low(params.floor ? static_cast<T>(*params.floor) - background : -most_cell_value<T>),
        high(params.ceiling ? static_cast<T>(*params.ceiling) - background : most_cell_value<T>),
        min(static_cast<T>(range_min)),
        max(static_cast<T>(range_max)),
        zone(rules.zone(absolute_bound)) {
    set_bound({absolute_bound, params.half_step});
    anchor_step = step[most_cell_levels - 1];
    anchor_inverse = inverse[most_cell_levels - 1];
  }

  /// Codes points under another bound. Anchors keep their step.
  void set_bound(const LocalBound& local) {
    bound = local.bound;
    certain = certainly_within<T>(bound);
    for (int level = 0; level < most_cell_levels; ++level) {
      const double half = half_step_of_level(local.half_step, level);
      step[level] = static_cast<T>(2 * half);
      inverse[level] = static_cast<T>(1 / (2 * half));
    }
  }

  /// `value` is less the background; not a number: missing.
  CUSZI_HD CellValue<T> quantise(int level, T value, T predicted) const {
    return quantise(step[level], inverse[level], value, predicted);
  }
  CUSZI_HD T restored(int level, T predicted, T steps) const {
    return restored_by(step[level], predicted, steps);
  }
  /// quantise() and restored() by a step of the point, as rows of points have them in vectors.
  CUSZI_HD CellValue<T> quantise(T own_step, T own_inverse, T value, T predicted) const {
    using Bits = typename IntegerBits<T>::Bits;
    const T scaled = (value - predicted) * own_inverse;
    const bool in_range = magnitude_of(scaled) < T(most_cell_code + 0.5);
    const T rounded = (in_range ? scaled : T(0)) + IntegerBits<T>::rounding;
    const T steps = rounded - IntegerBits<T>::rounding;
    return {static_cast<std::int16_t>(std::bit_cast<Bits>(rounded)), steps,
            restored_by(own_step, predicted, steps)};
  }
  CUSZI_HD T restored_by(T own_step, T predicted, T steps) const {
    return clamp_restored<T>(predicted + steps * own_step, low, high);
  }

  /// The value that is compared with the original: encoders need no range for it.
  CUSZI_HD T value_of(T restored) const { return restored + background; }
  /// The value that a reader gets, if it is not patched: no farther from the original.
  CUSZI_HD T handed_out(T restored) const {
    return clamp_restored<T>(value_of(restored), min, max);
  }

  /// Whether a value surely may come back so. Else may_restore_to() decides.
  CUSZI_HD bool is_certain(T value, T restored) const {
    const bool near = magnitude_of(value - value_of(restored)) < certain;
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

/// The quantisers of a frame's points under local bounds.
template <class T>
struct LocalCellsQuantizers {
  BlockGrid grid;
  const std::uint8_t* blocks = nullptr;          ///< bound of each block; null: no local bounds
  const CellsQuantizer<T>* of_bounds = nullptr;  ///< [0] is the frame's

  CUSZI_HD bool any() const { return blocks != nullptr; }
  CUSZI_HD const CellsQuantizer<T>& at(std::uint64_t z, std::uint64_t y, std::uint64_t x) const {
    return of_bounds[blocks[grid.block_of(z, y, x)]];
  }
};

/// LocalCellsQuantizers::of_bounds.
template <class T>
std::vector<CellsQuantizer<T>> quantizers_of_bounds(const CellsQuantizer<T>& frame,
                                                    const LocalBounds& local) {
  std::vector<CellsQuantizer<T>> all{frame};
  for (const LocalBound& bound : local.bounds) all.emplace_back(frame).set_bound(bound);
  return all;
}

}  // namespace cuszi

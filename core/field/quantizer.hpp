#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/dtype.hpp"
#include "core/base/hd.hpp"
#include "core/field/restore_rules.hpp"

namespace cuszi {

/// A quantised prediction error, delta + radius, in 1 .. 2 radius - 1; 0 stands for an outlier.
using QuantCode = std::uint16_t;

inline constexpr QuantCode outlier_code = 0;
inline constexpr std::uint32_t max_radius = 32768;

CUSZI_HD inline float magnitude_of(float x) { return std::fabs(x); }
CUSZI_HD inline double magnitude_of(double x) { return std::fabs(x); }

/// True if |original - restored| <= bound in exact arithmetic. The difference is rounded, and
/// rounding is monotonic, so only a difference that rounds to the bound itself needs its rounding
/// error (Knuth's TwoDiff).
CUSZI_HD inline bool within_bound(double original, double restored, double bound) {
  const double difference = original - restored;
  const double magnitude = magnitude_of(difference);
  if (magnitude != bound) return magnitude < bound;
  const double minus_restored = difference - original;
  const double rounding = (original - (difference - minus_restored)) - (restored + minus_restored);
  return difference < 0 ? rounding >= 0 : rounding <= 0;
}

/// A little less than the bound: a difference in T below this is within it.
template <class T>
inline T certainly_within(double bound) {
  constexpr double most = std::numeric_limits<T>::max();
  return static_cast<T>(bound < most ? bound : most) * static_cast<T>(1 - 1.0 / (1 << 20));
}

/// Whether a value that is not missing may come back as `restored`: within the bound, and by
/// the rules.
template <class T>
CUSZI_HD inline bool may_restore_to(T original, T restored, double bound,
                                    const RestoreRules<T>& rules) {
  return within_bound(static_cast<double>(original), static_cast<double>(restored), bound) &&
         rules.allow(original, restored);
}

/// How a type of floating point holds integers in the low bits of a significand: conversions are
/// slow on GPUs.
template <class T>
struct IntegerBits;
template <>
struct IntegerBits<float> {
  using Bits = std::uint32_t;
  static constexpr float zero = 8388608.0F;       ///< 2^23: integers from 0 are added to its bits
  static constexpr float rounding = 12582912.0F;  ///< 1.5 x 2^23: sums with it are integers
};
template <>
struct IntegerBits<double> {
  using Bits = std::uint64_t;
  static constexpr double zero = 4503599627370496.0;      // 2^52
  static constexpr double rounding = 6755399441055744.0;  // 1.5 x 2^52
};

/// The nearest integer, ties to even, by addition alone so that every processor agrees and loops
/// vectorise. |x| must be below 2^22 (float) or 2^51 (double).
template <class T>
CUSZI_HD inline T round_half_even(T x) {
  return (x + IntegerBits<T>::rounding) - IntegerBits<T>::rounding;
}

/// The integer nearest to x, ties to even. |x| must be below 2^51; any other x gives an unspecified
/// integer. Around the addend, neighbouring doubles have neighbouring bit patterns.
CUSZI_HD inline std::int64_t nearest_integer(double x) {
  constexpr double addend = IntegerBits<double>::rounding;
  return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x + addend) -
                                   std::bit_cast<std::uint64_t>(addend));
}

/// The distance of x from the nearest integer. |x| must be below 2^51.
CUSZI_HD inline double distance_to_integer(double x) {
  return magnitude_of(x - round_half_even(x));
}

template <class T>
CUSZI_HD inline T clamp_to(T value, T min, T max) {
  return value < min ? min : (value > max ? max : value);
}

/// Clamps a restored value, which is never -0, to [min, max] by the processors' own minimum and
/// maximum. NaN becomes `min`.
template <class T>
CUSZI_HD inline T clamp_restored(T value, T min, T max) {
#if defined(__CUDA_ARCH__)
  return std::fmin(std::fmax(value, min), max);
#else
  const T raised = value > min ? value : min;
  return raised < max ? raised : max;
#endif
}

/// Turns prediction errors into quant-codes and back (cuSZ 2, step 3), under a strict bound.
template <class T>
struct Quantizer {
  T step;          ///< distance between restorable values: twice the half step
  T inverse_step;  ///< 1 / step
  T min;           ///< restored values are clamped to [min, max], the range of the original
  T max;
  double bound;      ///< what |original - restored| must not exceed
  T certain;         ///< a rounded difference below this is within the bound
  RuleZone<T> zone;  ///< of values that rules matter to
  T reach;           ///< errors of fewer steps have a code
  T origin;          ///< of the codes, in IntegerBits: what stands for a delta of 0
  std::uint32_t radius;

  Quantizer(double half_step, double absolute_bound, double range_min, double range_max,
            std::uint32_t code_radius, const RestoreRules<T>& rules = {})
      : step(static_cast<T>(2 * half_step)),
        inverse_step(static_cast<T>(1 / (2 * half_step))),
        min(static_cast<T>(range_min)),
        max(static_cast<T>(range_max)),
        bound(absolute_bound),
        certain(certainly_within<T>(absolute_bound)),
        zone(rules.zone(absolute_bound)),
        reach(static_cast<T>(code_radius) - static_cast<T>(0.5)),
        origin(IntegerBits<T>::zero + static_cast<T>(code_radius)),
        radius(code_radius) {}
};

template <class T>
struct Quantised {
  QuantCode code;
  T restored;
};

/// The value `delta` steps from the prediction.
template <class T>
CUSZI_HD inline T restored_at(const Quantizer<T>& quantizer, T prediction, T delta) {
  return clamp_restored<T>(prediction + delta * quantizer.step, quantizer.min, quantizer.max);
}

/// The value that a code other than the outlier's stands for, given the prediction.
template <class T>
CUSZI_HD inline T restore(const Quantizer<T>& quantizer, T prediction, QuantCode code) {
  using Bits = typename IntegerBits<T>::Bits;
  const T place = std::bit_cast<T>(std::bit_cast<Bits>(IntegerBits<T>::zero) | code);
  return restored_at(quantizer, prediction, place - quantizer.origin);
}

/// What a code would make of a value. If it is not in range, the rest means nothing. It may stand
/// if it is certain to keep the bound and no rule matters to the value; else may_restore_to()
/// decides.
template <class T>
struct Attempt {
  Quantised<T> result;
  bool in_range;
  bool certain;
};

template <class T>
CUSZI_HD inline Attempt<T> try_to_quantise(const Quantizer<T>& quantizer, T value, T prediction) {
  using Bits = typename IntegerBits<T>::Bits;
  const T scaled = (value - prediction) * quantizer.inverse_step;
  const T rounded = scaled + IntegerBits<T>::rounding;
  const T restored = restored_at(quantizer, prediction, rounded - IntegerBits<T>::rounding);
  // The sum's lowest bits are the delta's: those of the addend are 0.
  const auto code = static_cast<QuantCode>(std::bit_cast<Bits>(rounded) + quantizer.radius);
  const bool in_range = magnitude_of(scaled) < quantizer.reach;
  const bool near = magnitude_of(value - restored) < quantizer.certain;
  return {{code, restored}, in_range, (in_range & near) != 0};  // no branch: loops vectorise
}

/// The code of `value` and what the decoder will see. What the codes cannot express within the
/// bound (too far, rounding, a prediction that overflowed), or without breaking `rules`, is an
/// outlier and keeps its value. The quantizer must have been made for the same rules.
template <class T>
CUSZI_HD inline Quantised<T> quantise(const Quantizer<T>& quantizer, const RestoreRules<T>& rules,
                                      T value, T prediction) {
  const Attempt<T> attempt = try_to_quantise(quantizer, value, prediction);
  if (attempt.certain && !(rules.any() && quantizer.zone.has(value))) return attempt.result;
  const bool reached =
      attempt.in_range && may_restore_to(value, attempt.result.restored, quantizer.bound, rules);
  return reached ? attempt.result : Quantised<T>{outlier_code, value};
}

/// Quantises a value with a dead zone. A prediction error below `zone` steps becomes the code of no
/// error where the bound allows it: where other codes are rare, the bits saved are worth the
/// distortion.
template <class T>
CUSZI_HD inline Quantised<T> quantise(const Quantizer<T>& quantizer, const RestoreRules<T>& rules,
                                      T zone, T value, T prediction) {
  const auto none = static_cast<QuantCode>(quantizer.radius);
  if (magnitude_of((value - prediction) * quantizer.inverse_step) < zone) {
    const T restored = restore(quantizer, prediction, none);
    if (may_restore_to(value, restored, quantizer.bound, rules)) return {none, restored};
  }
  return quantise(quantizer, rules, value, prediction);
}

/// Half the quantiser's step for values of [min, max] stored as `dtype` under `bound`. It is a
/// little less than the bound, by what storing the restored value may round; where all values
/// share one binade they lie on a grid, and the step is the largest odd multiple of the grid's
/// spacing that the bound allows. Without this a bound of a few units in the last place would
/// turn many points into outliers.
double half_step_for(double bound, double min, double max, DType dtype);

/// True if a quantiser with this half step can work in T (neither its step nor the inverse under-
/// or overflows).
template <class T>
CUSZI_HD inline bool is_usable_half_step(double half_step) {
  constexpr double least = std::numeric_limits<T>::min();
  constexpr double most = std::numeric_limits<T>::max();
  const double step = 2 * half_step;
  const double inverse = 1 / step;
  return step >= least && step <= most && inverse >= least && inverse <= most;
}
CUSZI_HD inline bool is_usable_half_step(double half_step, DType dtype) {
  return dtype == DType::f32 ? is_usable_half_step<float>(half_step)
                             : is_usable_half_step<double>(half_step);
}

}  // namespace cuszi

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/dtype.hpp"
#include "core/hd.hpp"

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

/// A little less than the bound: a difference in T below this needs no within_bound().
template <class T>
inline T certainly_within(double bound) {
  return static_cast<T>(bound) * static_cast<T>(1 - 1.0 / (1 << 20));
}

/// The nearest integer, ties to even, by addition alone so that every processor agrees and loops
/// vectorise. |x| must be below 2^22 (float) or 2^51 (double).
CUSZI_HD inline float round_half_even(float x) {
  constexpr float shift = 12582912.0F;  // 1.5 x 2^23
  return (x + shift) - shift;
}
CUSZI_HD inline double round_half_even(double x) {
  constexpr double shift = 6755399441055744.0;  // 1.5 x 2^52
  return (x + shift) - shift;
}

/// The same as an integer: around the shift, doubles are as far apart as their bit patterns.
/// Conversions are slow on GPUs.
CUSZI_HD inline std::int64_t nearest_integer(double x) {
  constexpr double shift = 6755399441055744.0;
  return std::bit_cast<std::int64_t>(x + shift) - std::bit_cast<std::int64_t>(shift);
}

template <class T>
CUSZI_HD inline T clamp_to(T value, T min, T max) {
  return value < min ? min : (value > max ? max : value);
}

/// Turns prediction errors into quant-codes and back (cuSZ 2, step 3), under a strict bound.
template <class T>
struct Quantizer {
  T step;          ///< distance between restorable values: twice the half step
  T inverse_step;  ///< 1 / step
  T min;           ///< restored values are clamped to [min, max], the range of the original
  T max;
  double bound;  ///< what |original - restored| must not exceed
  T certain;     ///< a rounded difference below this is within the bound in exact arithmetic too
  std::int32_t radius;

  Quantizer(double half_step, double absolute_bound, double range_min, double range_max,
            std::uint32_t code_radius)
      : step(static_cast<T>(2 * half_step)),
        inverse_step(static_cast<T>(1 / (2 * half_step))),
        min(static_cast<T>(range_min)),
        max(static_cast<T>(range_max)),
        bound(absolute_bound),
        certain(certainly_within<T>(absolute_bound)),
        radius(static_cast<std::int32_t>(code_radius)) {}
};

template <class T>
struct Quantised {
  QuantCode code;
  T restored;
};

/// The value that a code other than the outlier's stands for, given the prediction.
template <class T>
CUSZI_HD inline T restore(const Quantizer<T>& quantizer, T prediction, QuantCode code) {
  const auto delta = static_cast<T>(static_cast<std::int32_t>(code) - quantizer.radius);
  return clamp_to<T>(prediction + delta * quantizer.step, quantizer.min, quantizer.max);
}

/// The code of `value` and what the decoder will see. What the codes cannot express within the
/// bound (too far, rounding, a prediction that overflowed) is an outlier and keeps its value.
template <class T>
CUSZI_HD inline Quantised<T> quantise(const Quantizer<T>& quantizer, T value, T prediction) {
  const T scaled = (value - prediction) * quantizer.inverse_step;
  const bool in_range =
      magnitude_of(scaled) < static_cast<T>(quantizer.radius) - static_cast<T>(0.5);
  const auto delta = static_cast<std::int32_t>(round_half_even(in_range ? scaled : T{0}));
  const auto code = static_cast<QuantCode>(delta + quantizer.radius);
  const T restored = restore(quantizer, prediction, code);
  bool reached = in_range && magnitude_of(value - restored) < quantizer.certain;
  if (!reached && in_range) reached = within_bound(value, restored, quantizer.bound);
  return {reached ? code : outlier_code, reached ? restored : value};
}

/// Half the quantiser's step for values of [min, max] stored as `dtype` under `bound`. It is a
/// little less than the bound, by what storing the restored value may round; where all values
/// share one binade they lie on a grid, and the step is the largest odd multiple of the grid's
/// spacing that the bound allows. Without this a bound of a few units in the last place would
/// turn many points into outliers.
double half_step_for(double bound, double min, double max, DType dtype);

/// True if a quantiser with this half step can work in `dtype` (neither its step nor the inverse
/// under- or overflows).
bool is_usable_half_step(double half_step, DType dtype);

}  // namespace cuszi

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/bytes.hpp"
#include "core/base/dtype.hpp"
#include "core/base/hd.hpp"
#include "core/field/config.hpp"
#include "core/field/restore_rules.hpp"
#include "core/field/sample.hpp"

namespace cuszi {

/// Prediction error in steps + radius, in 1 .. 2 radius - 1; 0 marks an outlier.
using QuantCode = std::uint16_t;

inline constexpr QuantCode outlier_code = 0;
inline constexpr std::uint32_t max_radius = 32768;

CUSZI_HD inline float magnitude_of(float x) { return std::fabs(x); }
CUSZI_HD inline double magnitude_of(double x) { return std::fabs(x); }

/// |original - restored| <= bound in exact arithmetic. The rounding error (Knuth's TwoDiff) only
/// matters if the rounded difference equals the bound.
CUSZI_HD inline bool within_bound(double original, double restored, double bound) {
  const double difference = original - restored;
  const double magnitude = magnitude_of(difference);
  if (magnitude != bound) return magnitude < bound;
  const double minus_restored = difference - original;
  const double rounding = (original - (difference - minus_restored)) - (restored + minus_restored);
  return difference < 0 ? rounding >= 0 : rounding <= 0;
}

/// Slightly below the bound: smaller differences computed in T are within it.
template <class T>
inline T certainly_within(double bound) {
  constexpr double most = std::numeric_limits<T>::max();
  return static_cast<T>(bound < most ? bound : most) * static_cast<T>(1 - 1.0 / (1 << 20));
}

template <class T>
CUSZI_HD inline bool may_restore_to(T original, T restored, double bound,
                                    const RestoreRules<T>& rules) {
  return within_bound(static_cast<double>(original), static_cast<double>(restored), bound) &&
         rules.allow(original, restored);
}

/// Integers in the low bits of a significand: conversions are slow on GPUs.
template <class T>
struct IntegerBits;
template <>
struct IntegerBits<float> {
  using Bits = std::uint32_t;
  static constexpr float zero = 8388608.0F;       ///< 2^23: its bits plus n represent 2^23 + n
  static constexpr float rounding = 12582912.0F;  ///< 1.5 x 2^23: adding it rounds to integers
};
template <>
struct IntegerBits<double> {
  using Bits = std::uint64_t;
  static constexpr double zero = 4503599627370496.0;      // 2^52
  static constexpr double rounding = 6755399441055744.0;  // 1.5 x 2^52
};

/// Rounds ties to even by additions only: bit-exact on every processor and vectorisable. |x| < 2^22
/// (float) or 2^51 (double).
template <class T>
CUSZI_HD inline T round_half_even(T x) {
  return (x + IntegerBits<T>::rounding) - IntegerBits<T>::rounding;
}

/// Rounds ties to even, for |x| < 2^51; else unspecified. Near the addend, consecutive integers
/// have consecutive bit patterns.
CUSZI_HD inline std::int64_t nearest_integer(double x) {
  constexpr double addend = IntegerBits<double>::rounding;
  return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x + addend) -
                                   std::bit_cast<std::uint64_t>(addend));
}

/// |x| < 2^51.
CUSZI_HD inline double distance_to_integer(double x) {
  return magnitude_of(x - round_half_even(x));
}

template <class T>
CUSZI_HD inline T clamp_to(T value, T min, T max) {
  return value < min ? min : (value > max ? max : value);
}

/// Clamps to [min, max] by native min/max; NaN becomes `min`. `value` must not be -0.
template <class T>
CUSZI_HD inline T clamp_restored(T value, T min, T max) {
#if defined(__CUDA_ARCH__)
  return std::fmin(std::fmax(value, min), max);
#else
  const T raised = value > min ? value : min;
  return raised < max ? raised : max;
#endif
}

/// Quantises prediction errors under a strict bound (cuSZ 2, step 3).
template <class T>
struct Quantizer {
  T step;  ///< twice the half step
  T inverse_step;
  T min;  ///< range of the original, to which restored values are clamped
  T max;
  double bound;      ///< on |original - restored|
  T certain;         ///< rounded differences below this are within the bound
  RuleZone<T> zone;  ///< values that rules may affect
  T reach;           ///< errors below this many steps have a code
  T origin;          ///< code of a delta of 0, in IntegerBits
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

template <class T>
CUSZI_HD inline T restored_at(const Quantizer<T>& quantizer, T prediction, T delta) {
  return clamp_restored<T>(prediction + delta * quantizer.step, quantizer.min, quantizer.max);
}

/// `code` must not be outlier_code.
template <class T>
CUSZI_HD inline T restore(const Quantizer<T>& quantizer, T prediction, QuantCode code) {
  using Bits = typename IntegerBits<T>::Bits;
  const T place = std::bit_cast<T>(std::bit_cast<Bits>(IntegerBits<T>::zero) | code);
  return restored_at(quantizer, prediction, place - quantizer.origin);
}

/// `result` is valid if `in_range`, acceptable if `certain` and no rule affects the value; else
/// may_restore_to() decides.
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
  // The addend's low bits are 0, so the sum's are the delta.
  const auto code = static_cast<QuantCode>(std::bit_cast<Bits>(rounded) + quantizer.radius);
  const bool in_range = magnitude_of(scaled) < quantizer.reach;
  const bool near = magnitude_of(value - restored) < quantizer.certain;
  return {{code, restored}, in_range, (in_range & near) != 0};  // no branch, so that loops
                                                                // vectorise
}

/// Values that no code restores within the bound and the rules are outliers and stay exact. The
/// quantizer must have the same rules.
template <class T>
CUSZI_HD inline Quantised<T> quantise(const Quantizer<T>& quantizer, const RestoreRules<T>& rules,
                                      T value, T prediction) {
  const Attempt<T> attempt = try_to_quantise(quantizer, value, prediction);
  if (attempt.certain && !(rules.any() && quantizer.zone.has(value))) return attempt.result;
  const bool reached =
      attempt.in_range && may_restore_to(value, attempt.result.restored, quantizer.bound, rules);
  return reached ? attempt.result : Quantised<T>{outlier_code, value};
}

/// Prediction errors below `zone` steps become the zero code if the bound allows it. Pays where
/// other codes are rare.
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

/// Half step for values in [min, max]: the bound minus the rounding of stored values. In a single
/// binade, the largest odd multiple of half their spacing within the bound; otherwise bounds of a
/// few ulps would make many outliers.
double half_step_for(double bound, double min, double max, DType dtype);

/// Whether the step and its inverse are normal numbers of T.
template <class T>
bool is_usable_half_step(double half_step) {
  constexpr double least = std::numeric_limits<T>::min();
  constexpr double most = std::numeric_limits<T>::max();
  const double step = 2 * half_step;
  const double inverse = 1 / step;
  return step >= least && step <= most && inverse >= least && inverse <= most;
}
inline bool is_usable_half_step(double half_step, DType dtype) {
  return dtype == DType::f32 ? is_usable_half_step<float>(half_step)
                             : is_usable_half_step<double>(half_step);
}

/// The smallest power of two, at least 512, that leaves at most 2 sampled errors outside. `step` is
/// the quantiser's.
std::uint32_t choose_radius(const PredictorConfig& config, const ErrorOctaves& errors, double step);

/// Throw ArchiveError.
std::uint32_t read_radius(ByteReader& in);
double read_half_step(ByteReader& in, DType dtype, bool may_be_negative = false);

}  // namespace cuszi

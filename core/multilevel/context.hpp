#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/bit_width.hpp"
#include "core/base/hd.hpp"
#include "core/multilevel/class_plan.hpp"

namespace cuszi {

/// Contexts of `multilevel` estimate the magnitude of a quant-code from its neighbours by a linear
/// combination of integer features (compare the error energy of CALIC, Wu and Memon 1997).
enum Feature : unsigned {
  constant,  ///< 16
  direct,    ///< this and the next three: sums of magnitudes by group of ContextTaps
  diagonal,
  parent,
  same_point,
  gradient,   ///< mean |f(1) - f(-1)| over odd axes, in sixteenths of the level's bound
  roughness,  ///< mean |f(1) + f(-1) - f(3) - f(-3)|, plus the spread of the axes' splines
  gradient_root,
  feature_count
};

using Features = std::array<std::int32_t, feature_count>;

/// In units of 2^-14.
using FeatureWeights = std::array<std::int16_t, feature_count>;
inline constexpr int feature_weight_bits = 14;

inline constexpr std::int32_t feature_one = 16;  ///< 1.0 of a feature
inline constexpr std::int32_t max_slope = 200 * feature_one;
inline constexpr std::uint8_t max_magnitude = 64;  ///< saturates

/// Buckets are octaves of the weighted sum from 2^-8 on; a context is 16 x group + bucket.
inline constexpr unsigned context_buckets = 16;
inline constexpr unsigned contexts_per_group = 16;

/// If contexts are split, as many follow for points with their own bounds.
inline std::size_t contexts_of(const Pass& pass) {
  return std::size_t{pass.groups} * contexts_per_group;
}

CUSZI_HD inline unsigned bucket_of(std::int32_t weighted_sum) {
  const std::int32_t estimate = weighted_sum >> (feature_weight_bits - 8);
  if (estimate <= 0) return 0;
  const unsigned octave = bit_width_of(static_cast<std::uint32_t>(estimate));
  return octave < context_buckets ? octave : context_buckets - 1;
}

/// bucket_of() by the exponent of a float; vectorises.
inline std::uint8_t bucket_by_exponent(std::int32_t weighted_sum) {
  constexpr float none = 0.5F;
  constexpr auto last = static_cast<float>(1U << (context_buckets - 2));
  const auto estimate = static_cast<float>(weighted_sum >> (feature_weight_bits - 8));
  const float raised = estimate > none ? estimate : none;
  const float clamped = raised < last ? raised : last;
  constexpr int mantissa_bits = 23;
  return static_cast<std::uint8_t>((std::bit_cast<std::uint32_t>(clamped) >> mantissa_bits) -
                                   (std::bit_cast<std::uint32_t>(none) >> mantissa_bits));
}

CUSZI_HD inline std::int32_t weighted_sum(const FeatureWeights& weights, const Features& features) {
  std::int32_t sum = 0;
  for (unsigned i = 0; i < feature_count; ++i) sum += weights[i] * features[i];
  return sum;
}

/// `scaled` is a slope over a sixteenth of the bound.
template <class T>
CUSZI_HD inline std::int32_t slope_feature(T scaled) {
  return scaled < static_cast<T>(max_slope) ? static_cast<std::int32_t>(scaled) : max_slope;
}

/// floor(16 sqrt(g / 16)).
CUSZI_HD constexpr std::int32_t root_feature(std::int32_t slope) {
  const std::int32_t square = feature_one * slope;
  std::int32_t root = 0;
  for (std::int32_t bit = 128; bit != 0; bit /= 2) {
    if ((root + bit) * (root + bit) <= square) root += bit;
  }
  return root;
}

/// Start of fits, and for passes too small to fit.
inline constexpr FeatureWeights default_weights{102, 1100, 550, 400, 1600, 0, 0, 0};

/// Missing points have magnitude 0.
CUSZI_HD inline std::uint8_t magnitude_of_code(QuantCode code, std::uint32_t radius) {
  const std::int32_t delta = static_cast<std::int32_t>(code) - static_cast<std::int32_t>(radius);
  const std::int32_t magnitude = delta < 0 ? -delta : delta;
  return code == outlier_code || magnitude > max_magnitude ? max_magnitude
                                                           : static_cast<std::uint8_t>(magnitude);
}

CUSZI_HD inline float lower(float a, float b) { return a < b ? a : b; }
CUSZI_HD inline float higher(float a, float b) { return a > b ? a : b; }
CUSZI_HD inline double lower(double a, double b) { return a < b ? a : b; }
CUSZI_HD inline double higher(double a, double b) { return a > b ? a : b; }

template <class V>
struct Slopes {
  V slope;
  V curvature;
  V spread;
};

/// Sums over the odd axes.
template <class T, class V = T>
struct SlopeSums {
  V slope = T{0};
  V curvature = T{0};
  V low = std::numeric_limits<T>::max();
  V high = std::numeric_limits<T>::lowest();

  /// `far` is the sum of the values at -3 and 3.
  CUSZI_HD void add(const V& left, const V& right, const V& far) {
    using std::fabs;
    const V near = left + right;
    slope += fabs(right - left);
    curvature += fabs(near - far);
    const V spline = spline_from(near, far);
    low = lower(spline, low);
    high = higher(spline, high);
  }
  CUSZI_HD Slopes<V> slopes() const { return {slope, curvature, high - low}; }
};

/// Needs odd axes.
template <class T, class Values>
CUSZI_HD inline Slopes<ValueAt<Values>> slopes_of(const ClassPlan<T>& plan,
                                                  const PointAt<Values>& p) {
  SlopeSums<T, ValueAt<Values>> sums;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (!plan.points.is_odd(axis)) continue;
    sums.add(near_value(p, axis, p.value, -1), near_value(p, axis, p.value, 1),
             far_value(p, axis, p.value, -3) + far_value(p, axis, p.value, 3));
  }
  return sums.slopes();
}

template <class T>
CUSZI_HD inline void add_slopes(const ClassPlan<T>& plan, const Slopes<T>& s, Features& f) {
  f[gradient] = slope_feature(s.slope * plan.slope_scale);
  f[roughness] = slope_feature(s.curvature * plan.slope_scale + s.spread * plan.spread_scale);
  f[gradient_root] = root_feature(f[gradient]);
}

/// `magnitude` points to the point's own; only neighbours coded earlier are read.
template <class T, class Values, class Codes>
CUSZI_HD inline Features features_of(const ClassPlan<T>& plan, const PointAt<Values>& p,
                                     const Codes& magnitude) {
  const PointAt<Codes> codes{p.grid, p.points, p.at, magnitude};
  Features f{};
  f[constant] = feature_one;
  for (unsigned g = 0; g < plan.context_taps.size; ++g) {
    for (unsigned i = plan.context_taps.begin(g); i < plan.context_taps.end(g); ++i) {
      f[direct + g] += *near_part(codes, plan.context_taps.taps[i]);
    }
  }
  if (plan.points.order != 0) add_slopes(plan, slopes_of(plan, p), f);
  return f;
}

}  // namespace cuszi

#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/hd.hpp"

namespace cuszi {

/// Contexts of `multilevel`: the bucket of an estimate of a quant-code's magnitude before it is
/// known (the error energy of CALIC, Wu and Memon 1997), a linear combination of what its
/// neighbours tell. Everything from the features on is integer, so that all backends agree.
enum EnergyFeature : unsigned {
  constant,  ///< 16
  direct,    ///< sums of magnitudes, see EnergyTaps
  diagonal,
  parent,
  same_point,
  slices,
  gradient,   ///< mean |f(1) - f(-1)| over the odd axes, in sixteenths of the level's bound
  roughness,  ///< mean |f(1) + f(-1) - f(3) - f(-3)|, and how far the axes' splines disagree
  gradient_root,
  slice_error,  ///< how wrong interpolation is at the same point of the enclosing slices
  energy_features
};

using EnergyFeatures = std::array<std::int32_t, energy_features>;

/// In units of 2^-14.
using EnergyWeights = std::array<std::int16_t, energy_features>;
inline constexpr int energy_weight_bits = 14;

inline constexpr std::int32_t energy_one = 16;  ///< 1.0 of a feature that is not a sum
inline constexpr std::int32_t max_slope = 200 * energy_one;
inline constexpr std::uint8_t max_magnitude = 64;  ///< larger ones count as this

/// Buckets are octaves of the estimate from 2^-8 on; a context is 16 times its group plus a bucket.
inline constexpr unsigned energy_buckets = 14;
inline constexpr unsigned contexts_per_group = 16;

CUSZI_HD inline unsigned bucket_of(std::int32_t weighted_sum) {
  const std::int32_t estimate = weighted_sum >> (energy_weight_bits - 8);
  if (estimate <= 0) return 0;
  const auto octave = static_cast<unsigned>(std::bit_width(static_cast<std::uint32_t>(estimate)));
  return octave < energy_buckets ? octave : energy_buckets - 1;
}

CUSZI_HD inline std::int32_t weighted_sum(const EnergyWeights& weights,
                                          const EnergyFeatures& features) {
  std::int32_t sum = 0;
  for (unsigned i = 0; i < energy_features; ++i) sum += weights[i] * features[i];
  return sum;
}

/// A slope that has been divided by a sixteenth of the bound, as a feature.
template <class T>
CUSZI_HD inline std::int32_t slope_feature(T scaled) {
  return scaled < static_cast<T>(max_slope) ? static_cast<std::int32_t>(scaled) : max_slope;
}

/// 16 sqrt(g / 16), rounded down.
CUSZI_HD constexpr std::int32_t root_feature(std::int32_t slope) {
  const std::int32_t square = energy_one * slope;
  std::int32_t root = 0;
  for (std::int32_t bit = 128; bit != 0; bit /= 2) {
    if ((root + bit) * (root + bit) <= square) root += bit;
  }
  return root;
}

/// Weights to start from and for passes too small to fit.
inline constexpr EnergyWeights default_weights{102, 1100, 550, 400, 1600, 200, 0, 0, 0, 0};

}  // namespace cuszi

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/field/mask.hpp"
#include "core/tuning/energy_fit.hpp"
#include "cpu_ref/multilevel/energy_rows.hpp"

namespace cuszi::cpu {

/// Sampled points of a group: what is known of them before, and their magnitudes.
struct EnergySample {
  std::vector<EnergyFeatures> features;
  std::vector<std::uint8_t> magnitudes;
  std::uint64_t points = 0;  ///< that the sample stands for
};

/// The weight that energy_fit_weight() gives, computed in doubles, whose division processors
/// vectorise.
inline std::int32_t energy_fit_weight_by_doubles(std::int32_t weighted_sum) {
  constexpr std::int32_t enough = 1 << 23;  // from here on the weight is 1, and squares are exact
  const auto most = static_cast<std::int32_t>(enough - energy_fit_floor);
  const std::int32_t sum = std::clamp(weighted_sum, 0, most);
  const auto energy = static_cast<double>(sum + static_cast<std::int32_t>(energy_fit_floor));
  const double square = energy * energy;
  const double dividend = static_cast<double>(energy_fit_scale) + square / 2;
  const auto quotient = static_cast<std::int32_t>(dividend / square);
  const bool is_rounded_up = quotient * square > dividend;
  return std::max(quotient - static_cast<std::int32_t>(is_rounded_up), 1);
}

/// The sums of a round by the weights of the round before.
EnergySums energy_sums(const EnergySample& sample, const EnergyWeights& before);

/// Weights for each group of a pass by a fit to a fixed sample of its points, where they pay;
/// `known` includes the pass's own magnitudes.
template <class T>
std::vector<ContextWeights> fit_weights(const FramePlan<T>& plan, const Pass& pass,
                                        const Known<T>& known, const Mask& mask,
                                        RememberedWeights& remembered);

}  // namespace cuszi::cpu

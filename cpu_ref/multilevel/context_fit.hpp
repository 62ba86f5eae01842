#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/field/mask.hpp"
#include "core/tuning/context_fit.hpp"
#include "cpu_ref/multilevel/context_rows.hpp"

namespace cuszi::cpu {

/// A group's sampled points.
struct ContextSample {
  std::vector<Features> features;
  std::vector<std::uint8_t> magnitudes;
  std::uint64_t points = 0;  ///< of the group
};

/// context_fit_weight() in doubles, whose division vectorises.
inline std::int32_t context_fit_weight_by_doubles(std::int32_t weighted_sum) {
  constexpr std::int32_t enough = 1 << 23;  // larger sums have weight 1; squares stay exact
  const auto most = static_cast<std::int32_t>(enough - context_fit_floor);
  const std::int32_t sum = std::clamp(weighted_sum, 0, most);
  const auto expected = static_cast<double>(sum + static_cast<std::int32_t>(context_fit_floor));
  const double square = expected * expected;
  const double dividend = static_cast<double>(context_fit_scale) + square / 2;
  const auto quotient = static_cast<std::int32_t>(dividend / square);
  const bool is_rounded_up = quotient * square > dividend;
  return std::max(quotient - static_cast<std::int32_t>(is_rounded_up), 1);
}

ContextSums context_sums(const ContextSample& sample, const FeatureWeights& before);

/// Fits each group of a pass to a fixed sample. `known` includes the pass's magnitudes.
template <class T>
std::vector<ContextWeights> fit_weights(const FramePlan<T>& plan, const Pass& pass,
                                        const Known<T>& known, const Mask& mask,
                                        RememberedWeights& remembered);

}  // namespace cuszi::cpu

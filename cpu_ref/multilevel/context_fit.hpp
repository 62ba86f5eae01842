#pragma once

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

ContextSums context_sums(const ContextSample& sample, const FeatureWeights& before);

/// Fits each group of a pass to a fixed sample. `known` includes the pass's magnitudes.
template <class T>
std::vector<ContextWeights> fit_weights(const FramePlan<T>& plan, const Pass& pass,
                                        const Known<T>& known, const Mask& mask,
                                        RememberedWeights& remembered);

}  // namespace cuszi::cpu

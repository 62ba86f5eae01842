#pragma once

#include "core/field/mask.hpp"
#include "core/tuning/energy_fit.hpp"
#include "cpu_ref/multilevel/energy_rows.hpp"

namespace cuszi::cpu {

/// Weights for each group of a pass by a fit to a fixed sample of its points, where they pay;
/// `known` includes the pass's own magnitudes.
template <class T>
std::vector<ContextWeights> fit_weights(const FramePlan<T>& plan, const Pass& pass,
                                        const Known<T>& known, const Mask& mask,
                                        RememberedWeights& remembered);

}  // namespace cuszi::cpu

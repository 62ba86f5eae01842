#pragma once

#include <span>

#include "core/multilevel/block_contexts.hpp"
#include "core/tuning/energy_fit.hpp"
#include "cpu_ref/multilevel/energy_rows.hpp"

namespace cuszi::cpu {

/// Fills the contexts of a pass that has blocks, by code position. `weights` are those of its
/// groups.
template <class T>
void fill_block_contexts(const FramePlan<T>& plan, const Pass& pass, const Known<T>& known,
                         std::span<const ContextWeights> weights, std::span<std::uint8_t> contexts);

}  // namespace cuszi::cpu

#pragma once

#include "core/multilevel/block_contexts.hpp"
#include "core/tuning/energy_fit.hpp"
#include "gpu/multilevel/multilevel.cuh"

namespace cuszi::gpu {

/// Fills the contexts of a pass that has blocks, by code position. `weights` are those of its
/// groups, on the device.
template <class T>
void fill_block_contexts(DeviceContext& gpu, const PassView<T>& pass, const ContextWeights* weights,
                         std::uint8_t* contexts);

}  // namespace cuszi::gpu

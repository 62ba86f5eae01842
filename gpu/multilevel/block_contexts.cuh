#pragma once

#include "core/multilevel/block_contexts.hpp"
#include "core/tuning/energy_fit.hpp"
#include "gpu/multilevel/multilevel.cuh"

namespace cuszi::gpu {

/// Fills the contexts of the blocks of a pass that has them. `weights` are those of its groups, on
/// the device.
template <class T>
void fill_block_contexts(DeviceContext& gpu, const PassView<T>& pass, const ContextWeights* weights,
                         std::uint8_t* contexts);

/// Fills the contexts of codes by code position from those of their blocks.
void spread_block_contexts(DeviceContext& gpu, const std::uint8_t* of_blocks, std::uint64_t codes,
                           std::uint8_t* contexts);

}  // namespace cuszi::gpu

#pragma once

#include "core/energy_fit.hpp"
#include "gpu/multilevel.cuh"

namespace cuszi::gpu {

/// Fills the contexts of a pass, by place, from what earlier passes restored. `weights` are those
/// of its groups, on the device.
template <class T>
void fill_contexts(Work& work, const PassView<T>& pass, const GroupWeights* weights,
                   std::uint8_t* contexts);

}  // namespace cuszi::gpu

#pragma once

#include "core/tuning/context_fit.hpp"
#include "gpu/multilevel/multilevel.cuh"

namespace cuszi::gpu {

/// Fills the contexts of a pass by code position. `weights` are those of its groups, on the device.
template <class T>
void fill_contexts(DeviceContext& gpu, const PassView<T>& pass, const ContextWeights* weights,
                   std::uint8_t* contexts);

template <class T>
struct SmallPassContexts {
  PassView<T> pass;
  const ContextWeights* weights;
  std::uint8_t* contexts;
};
template <class T>
void fill_contexts(DeviceContext& gpu, std::span<const SmallPassContexts<T>> passes);

}  // namespace cuszi::gpu

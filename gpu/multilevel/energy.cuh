#pragma once

#include "core/tuning/energy_fit.hpp"
#include "gpu/multilevel/multilevel.cuh"

namespace cuszi::gpu {

/// Fills the contexts of a pass, by code position, from what earlier passes restored. `weights` are
/// those of its groups, on the device.
template <class T>
void fill_contexts(DeviceContext& gpu, const PassView<T>& pass, const ContextWeights* weights,
                   std::uint8_t* contexts);

/// The most points of a pass whose contexts are filled together with those of other small passes in
/// one launch, a few thread blocks each.
inline constexpr std::uint64_t small_pass = 32768;

/// A small pass, the weights of its groups and where its contexts go: one of those that a launch
/// fills together.
template <class T>
struct SmallPassContexts {
  PassView<T> pass;
  const ContextWeights* weights;
  std::uint8_t* contexts;
};
template <class T>
void fill_contexts(DeviceContext& gpu, std::span<const SmallPassContexts<T>> passes);

}  // namespace cuszi::gpu

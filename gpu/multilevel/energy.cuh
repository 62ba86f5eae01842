#pragma once

#include "core/tuning/energy_fit.hpp"
#include "gpu/multilevel/multilevel.cuh"

namespace cuszi::gpu {

/// Fills the contexts of a pass, by place, from what earlier passes restored. `weights` are those
/// of its groups, on the device.
template <class T>
void fill_contexts(Work& work, const PassView<T>& pass, const ContextWeights* weights,
                   std::uint8_t* contexts);

/// Passes of so few points have their contexts filled in one launch, a few thread blocks each.
inline constexpr std::uint64_t small_pass = 32768;

/// The same of a small pass among those of one launch.
template <class T>
struct SmallPassContexts {
  PassView<T> pass;
  const ContextWeights* weights;
  std::uint8_t* contexts;
};
template <class T>
void fill_contexts(Work& work, std::span<const SmallPassContexts<T>> passes);

}  // namespace cuszi::gpu

#pragma once

#include "gpu/multilevel/context.cuh"

namespace cuszi::gpu {

/// Fits context weights of each pass to samples; equals the CPU's choose_weights(). Updates
/// `remembered`. Waits once for all passes.
template <class T>
std::vector<std::vector<ContextWeights>> choose_weights(DeviceContext& gpu,
                                                        const LevelFrame<T>& frame,
                                                        PassRange passes, const RankedBits& missing,
                                                        RememberedWeights& remembered);

}  // namespace cuszi::gpu

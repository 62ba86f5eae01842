#pragma once

#include "gpu/multilevel/energy.cuh"

namespace cuszi::gpu {

/// Fits the context weights of the groups of each pass to samples; equals the CPU's
/// choose_weights(). Own weights of a group are kept in `remembered`. The host waits once for all
/// passes.
template <class T>
std::vector<std::vector<ContextWeights>> choose_weights(DeviceContext& gpu,
                                                        const LevelFrame<T>& frame,
                                                        PassRange passes, const RankedBits& missing,
                                                        RememberedWeights& remembered);

}  // namespace cuszi::gpu

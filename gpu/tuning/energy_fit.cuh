#pragma once

#include "gpu/multilevel/energy.cuh"

namespace cuszi::gpu {

/// The weights of the groups of these passes, for each pass, as core's choose_weights() finds them
/// on samples of this size; own ones are remembered. The host waits once for all passes.
template <class T>
std::vector<std::vector<ContextWeights>> choose_weights(Work& work, const LevelFrame<T>& frame,
                                                        PassRange passes, const RankedBits& missing,
                                                        FitSample size,
                                                        RememberedWeights& remembered);

}  // namespace cuszi::gpu

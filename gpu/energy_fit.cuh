#pragma once

#include "gpu/energy.cuh"

namespace cuszi::gpu {

/// The samples to which the energy weights of a pass's groups are fitted; `size` says how many.
/// Waits once for all passes of the range.
template <class T>
std::vector<std::vector<EnergySample>> sample_energies(Work& work, const LevelFrame<T>& frame,
                                                       PassRange passes, const RankedBits& missing,
                                                       FitSample size);

}  // namespace cuszi::gpu

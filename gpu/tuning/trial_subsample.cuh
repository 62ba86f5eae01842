#pragma once

#include "gpu/coders/ans.cuh"

namespace cuszi::gpu {

/// What a trial counts of the passes of a box of `box_points` points (core/tuning/trial_subsample),
/// in memory of its own.
LevelSymbols trial_subsamples(DeviceContext& gpu, const LevelSymbols& passes,
                              std::uint64_t box_points);

}  // namespace cuszi::gpu

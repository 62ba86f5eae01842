#pragma once

#include "gpu/coders/ans.cuh"

namespace cuszi::gpu {

/// Of the passes of a box of so many points, what a trial counts (core/tuning/counted_part), in
/// memory of its own.
LevelSymbols counted_parts(Work& work, const LevelSymbols& passes, std::uint64_t box_points);

}  // namespace cuszi::gpu

#pragma once

#include <span>
#include <vector>

#include "core/cells/head.hpp"
#include "core/cells/params.hpp"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// Codes a frame as cells: the sections of all passes. Waits.
template <class T>
std::vector<OwnCoded> encode_values(DeviceContext& gpu, const CellsParams& params, double bound,
                                    const FrameInput<T>& frame);

/// Starts to restore the points of a frame of cells at the output's stride, from the sections of
/// the passes that it needs. The host waits once. Throws ArchiveError, or sets a flaw.
template <class T>
void decode_values(DeviceContext& gpu, const CellsParams& params, std::span<const Sections> passes,
                   const FrameOutput<T>& frame);

}  // namespace cuszi::gpu

#pragma once

#include "core/tiles.hpp"
#include "gpu/frame_work.cuh"

namespace cuszi::gpu {

/// Codes a frame as tiles: where each chunk begins, and the chunks. Waits.
template <class T>
SelfCoded encode_values(Work& work, const TilesParams& params, double bound,
                        const FrameInput<T>& frame);

/// Starts to restore it. Throws ArchiveError, or sets a flaw, if the sections are not those of such
/// a frame.
template <class T>
void decode_values(Work& work, const TilesParams& params, const Sections& sections,
                   const FrameOutput<T>& frame);

}  // namespace cuszi::gpu

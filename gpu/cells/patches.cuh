#pragma once

#include <span>

#include "gpu/cells/cells_frame.cuh"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// The section of the patches of a pass, given the rank of tiles, all points that are patched and
/// how many are of each pass. Waits, unless there are none.
template <class T>
Bytes list_patches(DeviceContext& gpu, int rank, const FrameInput<T>& frame,
                   const RankedBits& patches, int pass, std::span<const std::uint64_t> counts);

/// Starts to put patches in their places among the points that are restored.
template <class T>
void put_patches(DeviceContext& gpu, const FrameOutput<T>& frame, const SparseView& patches);

}  // namespace cuszi::gpu

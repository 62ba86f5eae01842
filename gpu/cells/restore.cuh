#pragma once

#include "gpu/cells/cells_frame.cuh"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// What restoring a frame takes, on the device.
template <class T>
struct RestoreCellsTask {
  CellGrid grid;  ///< of the whole frame
  CellsQuantizer<T> quantizer;
  const std::int32_t* anchors;     ///< of tiles
  const ClassWeights<T>* weights;  ///< in the order of weight_sets
  const std::int16_t* codes;       ///< [tile][block][code], of blocks that have some
  const std::uint64_t* live;       ///< [tile]: which blocks have
  int stride;                      ///< of the points that are restored
  std::uint64_t out_extents[axis_count];
  T* out;
};

/// Starts to restore the points of a frame whose coordinates are multiples of the stride, from
/// tiles of this rank.
template <class T>
void restore_cells(DeviceContext& gpu, int rank, const RestoreCellsTask<T>& task,
                   const Extents3& extents);

}  // namespace cuszi::gpu

#pragma once

#include "gpu/cells/cells_frame.cuh"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// What predicting and quantising a frame takes and makes, on the device.
template <class T>
struct PredictTask {
  CellGrid grid;
  CellsQuantizer<T> quantizer;
  RestoreRules<T> rules;
  const T* values;
  const std::int32_t* anchors;     ///< of tiles
  const ClassWeights<T>* weights;  ///< in the order of weight_sets
  std::int16_t* codes;             ///< [tile][block][code]
  std::uint8_t* classes;           ///< [tile][block]
  const CodedPoints* coded;
  RankedBits patches;
  unsigned long long* patch_counts;  ///< of passes
  bool has_missing;
  T certain = 0;  ///< differences below this need no look at the rules; set by predict_cells()
};

/// Starts to predict and quantise all points of a frame, in tiles of this rank.
template <class T>
void predict_cells(DeviceContext& gpu, int rank, const PredictTask<T>& task,
                   const Extents3& extents);

}  // namespace cuszi::gpu

#pragma once

#include "core/cells/params.hpp"
#include "core/cells/weights.hpp"
#include "gpu/cells/cells_frame.cuh"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// Starts to fit the weights of all classes to samples of a frame's values.
template <class T>
void fit_cell_weights(DeviceContext& gpu, const CellsParams& params,
                      const CellsQuantizer<T>& quantizer, const FrameInput<T>& frame,
                      CellsWeights* weights);

/// Starts to turn weights into numbers, in the order of weight_sets.
template <class T>
const ClassWeights<T>* numbers_of_weights(DeviceContext& gpu, int rank,
                                          const CellsWeights* weights);

}  // namespace cuszi::gpu

#pragma once

#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// G-Interp of all tiles at once (cuSZ-i V): a thread block keeps a tile's closed box in shared
/// memory, reads the field once and writes the codes.
template <class T>
StartedPrediction start_prediction(DeviceContext& gpu, const InterpParams& params, double bound,
                                   const FrameInput<T>& frame, QuantCode* codes);

/// G-Interp's reconstruction of all tiles: predicts each point from restored values and adds its
/// quant-code; writes outliers and patches into the frame.
template <class T>
void reconstruct(DeviceContext& gpu, const InterpParams& params, const QuantCode* codes,
                 const Sections& sections, const ExceptionLists& exceptions,
                 const FrameOutput<T>& frame);

}  // namespace cuszi::gpu

#pragma once

#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// G-Interp (cuSZ-i V), one thread block per tile with its closed box in shared memory.
template <class T>
StartedPrediction start_prediction(DeviceContext& gpu, const InterpParams& params, double bound,
                                   const FrameInput<T>& frame, QuantCode* codes);

/// G-Interp's inverse; then writes outliers and patches.
template <class T>
void reconstruct(DeviceContext& gpu, const InterpParams& params, const QuantCode* codes,
                 const Sections& sections, const ExceptionLists& exceptions,
                 const FrameOutput<T>& frame);

}  // namespace cuszi::gpu

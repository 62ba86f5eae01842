#pragma once

#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// G-Interp of all tiles at once (cuSZ-i V): a thread block keeps a tile's closed box in shared
/// memory, reads the field once and writes the codes.
template <class T>
StartedPrediction start_prediction(Work& work, const InterpParams& params, double bound,
                                   const FrameInput<T>& frame, QuantCode* codes);

/// The same predictions from restored values.
template <class T>
void reconstruct(Work& work, const InterpParams& params, const QuantCode* codes,
                 const Sections& sections, const ExceptionLists& exceptions,
                 const FrameOutput<T>& frame);

}  // namespace cuszi::gpu

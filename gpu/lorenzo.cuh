#pragma once

#include "gpu/frame_work.cuh"

namespace cuszi::gpu {

/// Dual quantisation of all chunks at once (cuSZ 3.1.2): reads the field once, writes the codes.
template <class T>
Predicted predict_quantise(Work& work, const LorenzoParams& params, double bound,
                           const FrameInput<T>& frame, QuantCode* codes);

/// Partial sums of all chunks at once, then the exact patches.
template <class T>
void reconstruct(Work& work, const LorenzoParams& params, const QuantCode* codes,
                 const Sections& sections, const FrameOutput<T>& frame);

}  // namespace cuszi::gpu

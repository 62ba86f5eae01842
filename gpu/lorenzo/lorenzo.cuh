#pragma once

#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// Dual quantisation of all chunks at once (cuSZ 3.1.2): reads the field once, writes the codes and
/// counts them.
template <class T>
StartedPrediction start_prediction(DeviceContext& gpu, const LorenzoParams& params, double bound,
                                   const FrameInput<T>& frame, QuantCode* codes);
/// Dual quantisation of all chunks of a frame, as start_prediction() begins it; waits for its end.
template <class T>
Predicted predict_quantise(DeviceContext& gpu, const LorenzoParams& params, double bound,
                           const FrameInput<T>& frame, QuantCode* codes) {
  const StartedPrediction started = start_prediction(gpu, params, bound, frame, codes);
  gpu.sync();
  return started.finish();
}

/// Partial sums of all chunks at once, then the exact patches.
template <class T>
void reconstruct(DeviceContext& gpu, const LorenzoParams& params, const QuantCode* codes,
                 const Sections& sections, const ExceptionLists& exceptions,
                 const FrameOutput<T>& frame);

}  // namespace cuszi::gpu

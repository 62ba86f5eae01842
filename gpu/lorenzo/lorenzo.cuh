#pragma once

#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// Dual quantisation (cuSZ 3.1.2) with a histogram of the codes.
template <class T>
StartedPrediction start_prediction(DeviceContext& gpu, const LorenzoParams& params, double bound,
                                   const FrameInput<T>& frame, QuantCode* codes);
/// Synchronises.
template <class T>
Predicted predict_quantise(DeviceContext& gpu, const LorenzoParams& params, double bound,
                           const FrameInput<T>& frame, QuantCode* codes) {
  const StartedPrediction started = start_prediction(gpu, params, bound, frame, codes);
  gpu.sync();
  return started.finish();
}

/// Partial sums of chunks, then patches.
template <class T>
void reconstruct(DeviceContext& gpu, const LorenzoParams& params, const QuantCode* codes,
                 const Sections& sections, const ExceptionLists& exceptions,
                 const FrameOutput<T>& frame);

}  // namespace cuszi::gpu

#pragma once

#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// Dual quantisation of all chunks at once (cuSZ 3.1.2): reads the field once, writes the codes and
/// counts them.
template <class T>
StartedPrediction start_prediction(Work& work, const LorenzoParams& params, double bound,
                                   const FrameInput<T>& frame, QuantCode* codes);
/// Dual quantisation of all chunks of a frame, as start_prediction() begins it; waits for its end.
template <class T>
Predicted predict_quantise(Work& work, const LorenzoParams& params, double bound,
                           const FrameInput<T>& frame, QuantCode* codes) {
  const StartedPrediction started = start_prediction(work, params, bound, frame, codes);
  work.sync();
  return started.finish();
}

/// Partial sums of all chunks at once, then the exact patches.
template <class T>
void reconstruct(Work& work, const LorenzoParams& params, const QuantCode* codes,
                 const Sections& sections, const ExceptionLists& exceptions,
                 const FrameOutput<T>& frame);

}  // namespace cuszi::gpu

#pragma once

#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// Dual quantisation, chunk by chunk (cuSZ 3.1.2).
template <class T>
void predict_quantise(const LorenzoParams& params, double bound, const FrameInput<T>& frame,
                      Predicted<T>& out);

/// Partial sums, chunk by chunk, then the exact patches.
template <class T>
void reconstruct(const LorenzoParams& params, std::span<const QuantCode> codes,
                 const Sections& sections, const FrameOutput<T>& frame);

}  // namespace cuszi::cpu

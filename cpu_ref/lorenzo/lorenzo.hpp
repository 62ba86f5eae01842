#pragma once

#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// Quantises a frame and takes Lorenzo differences chunk by chunk (dual quantisation, cuSZ 3.1.2).
/// `out.codes` has room for all points.
template <class T>
void predict_quantise(const LorenzoParams& params, double bound, const FrameInput<T>& frame,
                      Predicted<T>& out);

/// Restores a frame by partial sums of the differences chunk by chunk, then puts in exact patches.
/// Throws ArchiveError.
template <class T>
void reconstruct(const LorenzoParams& params, std::span<const QuantCode> codes,
                 const Sections& sections, const FrameOutput<T>& frame);

}  // namespace cuszi::cpu

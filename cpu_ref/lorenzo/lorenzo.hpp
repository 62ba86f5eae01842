#pragma once

#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// Quantises, then takes Lorenzo differences per chunk (dual quantisation, cuSZ 3.1.2). `out.codes`
/// must hold all points.
template <class T>
void predict_quantise(const LorenzoParams& params, double bound, const FrameInput<T>& frame,
                      Predicted<T>& out);

/// Partial sums per chunk, then patches. Throws ArchiveError.
template <class T>
void reconstruct(const LorenzoParams& params, std::span<const QuantCode> codes,
                 const Sections& sections, const FrameOutput<T>& frame);

}  // namespace cuszi::cpu

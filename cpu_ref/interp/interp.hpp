#pragma once

#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// Predicts and quantises by G-Interp (cuSZ-i, SC'24, V). `predicted.codes` must hold all points.
template <class T>
void predict_quantise(const InterpParams& params, double bound, const FrameInput<T>& frame,
                      Predicted<T>& out);

/// Inverse of predict_quantise(), with the same predictions from restored values.
template <class T>
void reconstruct(const InterpParams& params, std::span<const QuantCode> codes,
                 const Sections& sections, const FrameOutput<T>& frame);

}  // namespace cuszi::cpu

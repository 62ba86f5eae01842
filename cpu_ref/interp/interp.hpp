#pragma once

#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// Predicts and quantises a frame by G-Interp tile by tile (cuSZ-i, SC'24, V). `predicted.codes`
/// has room for all points.
template <class T>
void predict_quantise(const InterpParams& params, double bound, const FrameInput<T>& frame,
                      Predicted<T>& out);

/// Restores the values of G-Interp tile by tile, predicting from restored values as
/// predict_quantise() does.
template <class T>
void reconstruct(const InterpParams& params, std::span<const QuantCode> codes,
                 const Sections& sections, const FrameOutput<T>& frame);

}  // namespace cuszi::cpu

#pragma once

#include "core/tuning/fit_sample.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// The frame's values with NaN in place of missing ones.
template <class T>
const T* without_missing(DeviceContext& gpu, const FrameInput<T>& frame);

/// Fits the coefficients of all classes; equals cpu::fit_coefficients(). `values` come from
/// without_missing(), `memory` from the encoder that runs next. The host waits once.
template <class T>
void fit_coefficients(DeviceContext& gpu, FrameMemory& memory, MultilevelParams& params,
                      const FrameInput<T>& frame, const T* values, FitSample size);

}  // namespace cuszi::gpu

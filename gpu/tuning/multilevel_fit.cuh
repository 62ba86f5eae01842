#pragma once

#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// The frame's values with NaN in place of missing ones.
template <class T>
const T* without_missing(DeviceContext& gpu, const FrameInput<T>& frame);

/// Fits the coefficients of all classes; equals cpu::fit_coefficients(). `values` come from
/// without_missing(). The host waits once.
template <class T>
void fit_coefficients(DeviceContext& gpu, MultilevelParams& params, const FrameInput<T>& frame,
                      const T* values);

}  // namespace cuszi::gpu

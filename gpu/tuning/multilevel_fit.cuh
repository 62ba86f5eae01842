#pragma once

#include <span>
#include <vector>

#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/context.hpp"
#include "gpu/tuning/stencil_fit.cuh"

namespace cuszi::gpu {

/// The frame's values with NaN in place of missing ones.
template <class T>
const T* without_missing(DeviceContext& gpu, const FrameInput<T>& frame);

/// A fit on its way in the stream of `gpu`.
struct PendingFit {
  DeviceContext* gpu = nullptr;
  std::span<const FittedClass> classes;  ///< on the host, as soon as the stream has come so far

  /// Waits for them.
  std::vector<Coefficients> coefficients() const;
};

/// Begins to fit the coefficients of all classes; what comes of it equals cpu::fit_coefficients().
/// `values` come from without_missing().
template <class T>
PendingFit start_fit(DeviceContext& gpu, const MultilevelParams& params, const FrameInput<T>& frame,
                     const T* values);

}  // namespace cuszi::gpu

#pragma once

#include <span>
#include <vector>

#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// The frame's values with NaN in place of missing ones.
template <class T>
const T* without_missing(DeviceContext& gpu, const FrameInput<T>& frame);

/// Sets the fitted coefficients of each of these parameters, all in one launch a step; equals
/// cpu::fit_coefficients(). `values` come from without_missing(). Waits.
template <class T>
void fit_coefficients(DeviceContext& gpu, std::span<MultilevelParams> all,
                      const FrameInput<T>& frame, const T* values);

/// Fits of coefficients to a frame or to a part of it, each made once.
template <class T>
class Fits {
 public:
  /// `values` are the frame's, from without_missing().
  Fits(DeviceContext& gpu, const FrameInput<T>& frame, const T* values)
      : gpu_(gpu), frame_(frame), values_(values) {}

  /// Sets the fitted coefficients of each of these parameters. Waits if some are not known.
  void fit(std::span<MultilevelParams* const> all);

 private:
  const MultilevelParams* find(const MultilevelParams& params) const;

  DeviceContext& gpu_;
  FrameInput<T> frame_;
  const T* values_;
  std::vector<MultilevelParams> known_;
};

}  // namespace cuszi::gpu

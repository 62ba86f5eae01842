#pragma once

#include <span>
#include <vector>

#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// NaN replaces missing values.
template <class T>
const T* without_missing(DeviceContext& gpu, const FrameInput<T>& frame);

/// Sets the fitted coefficients of each parameter set, with one launch per step; equals
/// cpu::fit_coefficients(). `values` come from without_missing(). Waits.
template <class T>
void fit_coefficients(DeviceContext& gpu, std::span<MultilevelParams> all,
                      const FrameInput<T>& frame, const T* values);

/// Caches fitted coefficients.
template <class T>
class Fits {
 public:
  /// `values` come from without_missing().
  Fits(DeviceContext& gpu, const FrameInput<T>& frame, const T* values)
      : gpu_(gpu), frame_(frame), values_(values) {}

  /// Waits for coefficients that are not cached.
  void fit(std::span<MultilevelParams* const> all);

 private:
  const MultilevelParams* find(const MultilevelParams& params) const;

  DeviceContext& gpu_;
  FrameInput<T> frame_;
  const T* values_;
  std::vector<MultilevelParams> known_;
};

}  // namespace cuszi::gpu

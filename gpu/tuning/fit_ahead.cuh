#pragma once

#include <optional>

#include "gpu/tuning/multilevel_fit.cuh"

namespace cuszi::gpu {

/// Fits coefficients to the whole frame while trials run, for parameters that the trials are
/// expected to choose. Works in the frame's own stream and memory, which trials leave idle.
template <class T>
class FitAhead {
 public:
  /// `values` are the frame's, without those that are missing.
  FitAhead(DeviceContext& gpu, FrameMemory& memory, const FrameInput<T>& frame, const T* values)
      : gpu_(gpu), memory_(memory), frame_(frame), values_(values) {}

  void expect(const MultilevelParams& likely) {
    params_ = likely;
    is_made_ = false;
  }
  bool is_due() const { return params_ && !is_made_; }

  void make() {
    fit_coefficients(gpu_, memory_, *params_, frame_, values_, FitSample::full);
    is_made_ = true;
  }

  /// Fits `params`; there is nothing to do if these were expected.
  void finish(MultilevelParams& params) {
    params.coefficients.clear();
    if (is_made_) {
      MultilevelParams fitted = params;
      fitted.coefficients = params_->coefficients;
      if (fitted == *params_) {
        params = std::move(fitted);
        return;
      }
    }
    fit_coefficients(gpu_, memory_, params, frame_, values_, FitSample::full);
  }

 private:
  DeviceContext& gpu_;
  FrameMemory& memory_;
  FrameInput<T> frame_;
  const T* values_;
  std::optional<MultilevelParams> params_;
  bool is_made_ = false;
};

}  // namespace cuszi::gpu

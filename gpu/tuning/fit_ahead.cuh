#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "gpu/tuning/multilevel_fit.cuh"

namespace cuszi::gpu {

/// Fits coefficients to the whole frame while trials run, for parameters that the trials are
/// expected to choose: the likeliest in the frame's own stream and memory, which trials leave idle,
/// others beside.
template <class T>
class FitAhead {
 public:
  /// `values` are the frame's, without those that are missing.
  FitAhead(DeviceContext& gpu, FrameMemory& memory, const FrameInput<T>& frame, const T* values)
      : gpu_(gpu), memory_(memory), frame_(frame), values_(values) {}

  void expect(std::span<const MultilevelParams> likely) {
    likely = likely.first(std::min(likely.size(), most_fits));
    likely_.assign(likely.begin(), likely.end());
    for (std::size_t i = beside_.size() + 1; i < likely_.size(); ++i) {
      DeviceContext& gpu = gpu_.other(i - 1);
      beside_.push_back({&gpu, FrameMemory(gpu)});
    }
    are_made_ = false;
  }
  /// How many fits are to be made.
  std::size_t due() const { return are_made_ ? 0 : likely_.size(); }
  /// Makes one of these; several may be made side by side.
  void make(std::size_t number) {
    if (number == 0) {
      fit(gpu_, memory_, likely_.front());
    } else {
      fit(*beside_[number - 1].gpu, beside_[number - 1].memory, likely_[number]);
    }
  }
  void all_made() { are_made_ = true; }

  /// How many of the context's others it needs, the first ones.
  std::size_t others() const { return beside_.size(); }

  /// Fits `params`; there is nothing to do if these were expected.
  void finish(MultilevelParams& params) {
    params.coefficients.clear();
    for (const MultilevelParams& made : std::span(likely_).first(are_made_ ? likely_.size() : 0)) {
      MultilevelParams fitted = params;
      fitted.coefficients = made.coefficients;
      if (fitted != made) continue;
      params = std::move(fitted);
      return;
    }
    fit(gpu_, memory_, params);
  }

 private:
  static constexpr std::size_t most_fits = 3;

  /// Where all but the first are made.
  struct Beside {
    DeviceContext* gpu;
    FrameMemory memory;
  };

  void fit(DeviceContext& gpu, FrameMemory& memory, MultilevelParams& params) const {
    fit_coefficients(gpu, memory, params, frame_, values_, FitSample::full);
  }

  DeviceContext& gpu_;
  FrameMemory& memory_;
  FrameInput<T> frame_;
  const T* values_;
  std::vector<MultilevelParams> likely_;
  std::vector<Beside> beside_;
  bool are_made_ = false;
};

}  // namespace cuszi::gpu

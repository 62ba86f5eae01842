#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "gpu/tuning/multilevel_fit.cuh"

namespace cuszi::gpu {

/// Fits coefficients to the whole frame while trials run, for parameters that the trials are
/// expected to choose: the likeliest in the frame's own stream, which trials leave idle, others
/// beside.
template <class T>
class FitAhead {
 public:
  /// `values` are the frame's, without those that are missing.
  FitAhead(DeviceContext& gpu, const FrameInput<T>& frame, const T* values)
      : gpu_(gpu), frame_(frame), values_(values) {}

  void expect(std::span<const MultilevelParams> likely) {
    likely = likely.first(std::min(likely.size(), most_fits));
    likely_.assign(likely.begin(), likely.end());
    while (beside_.size() + 1 < likely_.size()) beside_.push_back(&gpu_.other(beside_.size()));
    are_made_ = false;
  }
  /// How many fits are to be made.
  std::size_t due() const { return are_made_ ? 0 : likely_.size(); }
  /// Makes one of these; several may be made side by side.
  void make(std::size_t number) { fit(number == 0 ? gpu_ : *beside_[number - 1], likely_[number]); }
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
    fit(gpu_, params);
  }

 private:
  static constexpr std::size_t most_fits = 3;

  void fit(DeviceContext& gpu, MultilevelParams& params) const {
    fit_coefficients(gpu, params, frame_, values_);
  }

  DeviceContext& gpu_;
  FrameInput<T> frame_;
  const T* values_;
  std::vector<MultilevelParams> likely_;
  std::vector<DeviceContext*> beside_;  ///< where all but the first are made
  bool are_made_ = false;
};

}  // namespace cuszi::gpu

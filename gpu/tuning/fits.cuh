#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "gpu/runtime/stream.hpp"
#include "gpu/tuning/multilevel_fit.cuh"

namespace cuszi::gpu {

/// Fits of coefficients to a frame or to a part of it, each made once. They may begin before it is
/// known which of them are needed.
template <class T>
class Fits {
 public:
  /// `values` are the frame's, without those that are missing, as the stream of `gpu` leaves them.
  Fits(DeviceContext& gpu, const FrameInput<T>& frame, const T* values)
      : gpu_(gpu), frame_(frame), values_(values) {}

  /// Adds fits for these parameters, the likeliest first.
  void expect(std::span<const MultilevelParams> likely) {
    for (const MultilevelParams& params : likely) {
      if (find(params) == nullptr) fits_.push_back({params, {}});
    }
  }

  /// Begins what has not begun, behind what the frame's own stream has been given: the first fit in
  /// that stream, others beside it.
  void begin() {
    const std::size_t used = std::min(fits_.size() - begun_, lanes);
    if (used == 0) return;
    while (beside_.size() + 1 < used) beside_.push_back(&gpu_.other(beside_.size()));
    values_are_there_.record(gpu_.stream());
    int device = 0;
    check(cudaGetDevice(&device), "tell the device in use");
    gpu_.host().for_each(used, [&](std::size_t lane) {
      check(cudaSetDevice(device), "select a device");
      DeviceContext& gpu = lane == 0 ? gpu_ : *beside_[lane - 1];
      if (lane != 0) values_are_there_.hold(gpu.stream());
      for (std::size_t i = begun_ + lane; i < fits_.size(); i += used) {
        fits_[i].pending = start_fit(gpu, fits_[i].params, frame_, values_);
      }
    });
    begun_ = fits_.size();
  }

  /// Waits for fits beside the frame's own stream: needed or not, they read its values.
  void wait() const {
    for (DeviceContext* const gpu : beside_) gpu->sync();
  }

  /// The coefficients for these parameters; waits for them.
  std::vector<Coefficients> coefficients_of(const MultilevelParams& params) {
    expect(std::span(&params, 1));
    begin();
    return find(params)->pending.coefficients();
  }

  /// How many of the context's others fits may use, the first ones.
  static constexpr std::size_t others() { return lanes - 1; }

 private:
  static constexpr std::size_t lanes = 3;

  struct Fit {
    MultilevelParams params;
    PendingFit pending;  ///< as soon as it has begun
  };

  const Fit* find(const MultilevelParams& params) const {
    const auto found = std::find_if(fits_.begin(), fits_.end(), [&](const Fit& fit) {
      return have_same_fits(fit.params, params);
    });
    return found == fits_.end() ? nullptr : &*found;
  }

  DeviceContext& gpu_;
  FrameInput<T> frame_;
  const T* values_;
  Event values_are_there_;
  std::vector<DeviceContext*> beside_;
  std::vector<Fit> fits_;
  std::size_t begun_ = 0;
};

}  // namespace cuszi::gpu

#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "core/tuning/stencil_fit.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Sampled points of a class on the device (compare cpu::Observations).
template <class T>
struct ClassSample {
  const ClassPlan<T>* plan;
  Grid grid;
  std::uint32_t samples;  ///< 0: not sampled
  std::uint32_t unknowns;
  double bound;                  ///< see fit_bound()
  Shares preset;                 ///< by unknown
  double* values;                ///< 32 samples side by side, unknowns and own_rows each
  std::uint8_t* curvature_keys;  ///< by sample

  __device__ std::uint32_t blocks() const {
    return static_cast<std::uint32_t>(ceil_div(samples, sum_lanes));
  }
  /// Rows after the unknowns: target, used, weight, noise.
  static constexpr unsigned own_rows = 4;

  __device__ double* block(std::uint32_t number) const {
    return values + std::size_t{number} * (unknowns + own_rows) * sum_lanes;
  }
  /// Elements are sum_lanes apart.
  __device__ double* row(std::uint32_t sample) const {
    return block(sample / sum_lanes) + sample % sum_lanes;
  }
  __device__ double target(std::uint32_t sample) const { return row(sample)[unknowns * sum_lanes]; }
  __device__ bool takes_part(std::uint32_t sample) const {
    return row(sample)[(unknowns + 1) * sum_lanes] != 0;
  }
  __device__ double& weight(std::uint32_t sample) const {
    return row(sample)[(unknowns + 2) * sum_lanes];
  }
  __device__ double& noise(std::uint32_t sample) const {
    return row(sample)[(unknowns + 3) * sum_lanes];
  }
};

/// Samples of all classes, for several parameters.
template <class T>
class ClassSamples {
 public:
  /// wanted(points, stencil) is the number of samples of a class.
  template <class Wanted>
  ClassSamples(DeviceContext& gpu, std::span<const MultilevelParams> params,
               const FrameInput<T>& frame, const Wanted& wanted)
      : gpu_(gpu) {
    const std::vector<Schedule> schedules = take_plans(params);
    samples_.resize(firsts_.back());
    gpu.host().for_each(params.size(), [&](std::size_t i) {
      const std::span<ClassPlan<T>> plans = plans_of(i);
      std::uninitialized_value_construct(plans.begin(), plans.end());
      plan_classes(params[i], schedules[i], frame.min, frame.max, plans);
      std::transform(
          plans.begin(), plans.end(), samples_.begin() + firsts_[i], [&](const ClassPlan<T>& plan) {
            return sample_of(params[i], schedules[i].grid, plan, wanted(plan.points, plan.stencil));
          });
    });
    take_samples();
  }

  /// Missing values are NaN.
  void observe(const T* values);

  std::size_t classes() const { return samples_.size(); }
  /// On the host.
  std::span<ClassPlan<T>> plans_of(std::size_t i) const {
    return {plans_ + firsts_[i], plans_ + firsts_[i + 1]};
  }
  const ClassSample<T>* on_device() const { return on_device_; }
  std::uint32_t most_samples() const { return most_samples_; }

 private:
  static ClassSample<T> sample_of(const MultilevelParams& params, const Grid& grid,
                                  const ClassPlan<T>& plan, std::uint64_t samples) {
    const unsigned unknowns = plan.stencil.size == 0 ? 0 : plan.stencil.size - 1U;
    return {nullptr,
            grid,
            static_cast<std::uint32_t>(samples),
            unknowns,
            fit_bound(params, plan.points.level),
            preset_unknowns(plan.points, plan.stencil),
            nullptr,
            nullptr};
  }

  std::vector<Schedule> take_plans(std::span<const MultilevelParams> params);
  void take_samples();

  DeviceContext& gpu_;
  ClassPlan<T>* plans_ = nullptr;       ///< page-locked
  std::vector<std::size_t> firsts_{0};  ///< classes of each parameter set, and the end
  std::vector<ClassSample<T>> samples_;
  std::uint32_t most_samples_ = 0;
  ClassSample<T>* on_device_ = nullptr;
};

}  // namespace cuszi::gpu

#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "core/tuning/stencil_fit.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// The sampled points of a class (compare cpu::Observations), where they are on the device.
template <class T>
struct ClassSample {
  const ClassPlan<T>* plan;
  Grid grid;
  std::uint32_t samples;  ///< 0: the class is not looked at
  std::uint32_t unknowns;
  double bound;                  ///< by which it is fitted
  Shares preset;                 ///< of its unknowns
  double* values;                ///< 32 samples side by side: their unknowns and own_rows more
  std::uint8_t* curvature_keys;  ///< of each

  __device__ std::uint32_t blocks() const {
    return static_cast<std::uint32_t>(ceil_div(samples, sum_lanes));
  }
  /// What a sample has beside its unknowns: its target, whether it takes part, and room for its
  /// weight in a fit and its part of the noise.
  static constexpr unsigned own_rows = 4;

  /// Numbers of a block of 32 samples.
  __device__ double* block(std::uint32_t number) const {
    return values + std::size_t{number} * (unknowns + own_rows) * sum_lanes;
  }
  /// Where those of a sample begin; each is sum_lanes after the one before.
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

/// Samples of all classes of a frame with some parameters, those of the first ones first.
template <class T>
class ClassSamples {
 public:
  /// Plans the classes, and takes room for as many samples of each as `wanted(its points, its
  /// stencil)` says.
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

  /// Observes all samples, their neighbours as they are; missing ones are NaN.
  void observe(const T* values);

  std::size_t classes() const { return samples_.size(); }
  /// The classes with params[i], on the host.
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

  /// Room for the plans of all classes; returns the schedules that these are of.
  std::vector<Schedule> take_plans(std::span<const MultilevelParams> params);
  void take_samples();

  DeviceContext& gpu_;
  ClassPlan<T>* plans_ = nullptr;       ///< of all classes, page-locked
  std::vector<std::size_t> firsts_{0};  ///< classes with each of the parameters, and where all end
  std::vector<ClassSample<T>> samples_;
  std::uint32_t most_samples_ = 0;
  ClassSample<T>* on_device_ = nullptr;
};

}  // namespace cuszi::gpu

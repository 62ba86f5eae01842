#pragma once

#include <span>
#include <vector>

#include "core/tuning/approximate_reconstruction.hpp"
#include "core/tuning/stencil_fit.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// The sampled points of a class (compare core's Observations), where they are on the device.
template <class T>
struct ClassSample {
  const ClassPlan<T>* plan;
  const Grid* grid;
  std::uint32_t samples;  ///< 0: the class is not looked at
  std::uint32_t unknowns;
  double bound;                  ///< the half step of its level
  Shares preset;                 ///< of its unknowns
  double* values;                ///< 32 samples side by side: their unknowns and own_rows more
  std::uint8_t* curvature_keys;  ///< of each

  __device__ std::uint32_t blocks() const {
    return static_cast<std::uint32_t>(ceil_div(samples, sum_lanes));
  }
  /// What a sample has beside its unknowns: its target, whether it takes part, and room for its
  /// weight in a fit.
  static constexpr unsigned own_rows = 3;

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
};

/// The plans of all classes of some frames, one frame after the other, in page-locked memory.
template <class T>
struct PlannedFrames {
  std::span<const MultilevelParams> params;  ///< of each frame
  std::vector<Grid> grids;
  std::vector<std::size_t> firsts;  ///< of each frame's classes, and where the last one's end
  ClassPlan<T>* plans = nullptr;

  std::size_t frames() const { return grids.size(); }
  std::size_t classes() const { return firsts.back(); }
  std::span<ClassPlan<T>> classes_of(std::size_t frame) const {
    return {plans + firsts[frame], plans + firsts[frame + 1]};
  }
};

/// A schedule's classes on the device, with the weights of their coefficients, and samples of them.
template <class T>
class ClassSamples {
 public:
  /// Room for what `wanted(points of a class, its stencil)` says of each class.
  template <class Wanted>
  ClassSamples(DeviceContext& gpu, const PlannedFrames<T>& planned, const Wanted& wanted)
      : gpu_(gpu),
        plans_(planned.plans),
        grids_(planned.grids),
        grid_of_(planned.classes()),
        samples_(planned.classes()) {
    gpu.host().for_each(planned.frames(), [&](std::size_t i) {
      std::size_t c = planned.firsts[i];
      for (const ClassPlan<T>& plan : planned.classes_of(i)) {
        samples_[c] = sample_of(planned.params[i], plan,
                                static_cast<std::uint32_t>(wanted(plan.points, plan.stencil)));
        grid_of_[c++] = i;
      }
    });
    take();
  }

  /// Observes all samples, their neighbours as they are; missing ones are NaN.
  void observe(const T* values);
  /// Observes all samples with their neighbours as `approximate` restores them; it belongs to the
  /// frame of the only plan.
  void observe(const ApproximateReconstruction<T>& approximate);

  std::size_t classes() const { return samples_.size(); }
  const ClassSample<T>* on_device() const { return on_device_; }
  std::uint32_t most_samples() const { return most_samples_; }
  ClassPlan<T>* plans() const { return plans_on_device_; }

 private:
  static ClassSample<T> sample_of(const MultilevelParams& params, const ClassPlan<T>& plan,
                                  std::uint32_t samples) {
    const unsigned unknowns = plan.stencil.size == 0 ? 0 : plan.stencil.size - 1U;
    return {nullptr,
            nullptr,
            samples,
            unknowns,
            params.half_step_of(plan.points.level),
            preset_unknowns(plan.points, plan.stencil),
            nullptr,
            nullptr};
  }

  void take();

  DeviceContext& gpu_;
  const ClassPlan<T>* plans_;  ///< of all classes of all frames, page-locked
  std::vector<Grid> grids_;
  std::vector<std::size_t> grid_of_;  ///< a class
  std::vector<ClassSample<T>> samples_;
  std::uint32_t most_samples_ = 0;
  std::uint64_t keys_ = 0;  ///< of all classes
  ClassPlan<T>* plans_on_device_ = nullptr;
  ClassSample<T>* on_device_ = nullptr;
};

}  // namespace cuszi::gpu

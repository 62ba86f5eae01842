#pragma once

#include "core/tuning/sampled_cost.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/tuning/class_samples.cuh"

namespace cuszi::gpu {

/// The coefficients of a class.
struct FittedClass {
  std::array<std::int16_t, most_unknowns> coefficients{};
  std::uint32_t count = 0;  ///< 0: the class uses the preset

  Coefficients list() const { return {coefficients.begin(), coefficients.begin() + count}; }
};

/// Fits the coefficients of all classes to their samples, as cpu::fit_stencil() does.
template <class T>
void fit_stencils(DeviceContext& gpu, const ClassSamples<T>& samples, FittedClass* fits);

/// The errors of a class's sample, from which sampled costs are made.
struct SampledErrors {
  FittedClass fitted;
  std::array<unsigned long long, error_bins> counts{};
  std::array<unsigned long long, error_bins> sizes{};  ///< sums of error_size()
};

/// Adds the errors of all classes' samples to `classes`, as cpu::errors_of() defines them.
/// `half_step` is that of level 1.
template <class T>
void sum_sampled_errors(DeviceContext& gpu, const ClassSamples<T>& samples, double half_step,
                        SampledErrors* classes);

/// The errors of each candidate's classes on samples of the frame; equals cpu::sampled_errors_of().
/// `values` come from without_missing(). The host waits once.
template <class T>
std::vector<std::vector<ClassErrors>> sampled_errors_of(
    DeviceContext& gpu, std::span<const MultilevelParams> candidates, const FrameInput<T>& frame,
    const T* values);

}  // namespace cuszi::gpu

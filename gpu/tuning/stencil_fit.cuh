#pragma once

#include "core/tuning/sampled_cost.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/tuning/class_samples.cuh"

namespace cuszi::gpu {

struct FittedClass {
  std::array<std::int16_t, most_unknowns> coefficients{};
  std::uint32_t count = 0;  ///< 0: preset

  Coefficients list() const { return {coefficients.begin(), coefficients.begin() + count}; }
};

/// Equals cpu::fit_stencil().
template <class T>
void fit_stencils(DeviceContext& gpu, const ClassSamples<T>& samples, FittedClass* fits);

struct SampledErrors {
  FittedClass fitted;
  std::array<unsigned long long, error_bins> counts{};
  std::array<unsigned long long, error_bins> sizes{};  ///< of error_size()
};

/// Adds to `classes`; equals cpu::errors_of(). `half_step` is that of level 1.
template <class T>
void sum_sampled_errors(DeviceContext& gpu, const ClassSamples<T>& samples, double half_step,
                        SampledErrors* classes);

/// Equals cpu::sampled_errors_of(). `values` come from without_missing(). Waits once.
template <class T>
std::vector<std::vector<ClassErrors>> sampled_errors_of(
    DeviceContext& gpu, std::span<const MultilevelParams> candidates, const FrameInput<T>& frame,
    const T* values);

}  // namespace cuszi::gpu

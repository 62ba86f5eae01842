#pragma once

#include "core/tuning/sampled_cost.hpp"
#include "gpu/tuning/class_samples.cuh"

namespace cuszi::gpu {

/// The coefficients of a class.
struct FittedClass {
  std::array<std::int16_t, most_unknowns> coefficients{};
  std::uint32_t count = 0;  ///< 0: the class uses the preset

  Coefficients list() const { return {coefficients.begin(), coefficients.begin() + count}; }
};

/// Fits the coefficients of all classes to their samples, as core's
/// fit_stencil() does; from those in `start`, if there are any. `fits` may be `start`.
template <class T>
void fit_stencils(Work& work, const ClassSamples<T>& samples, FitTo to, const FittedClass* start,
                  FittedClass* fits);

/// What a class's sample tells in the sampled-cost.
struct SampledErrors {
  FittedClass fitted;
  std::array<unsigned long long, disagreements> counts{};
  std::array<unsigned long long, disagreements> sizes{};  ///< sums of error_size()
};

/// Adds the errors of all classes, as core's errors_of() says, to `classes`; `half_step` is that of
/// level 1.
template <class T>
void sum_sampled_errors(Work& work, const ClassSamples<T>& samples, double half_step,
                        SampledErrors* classes);

}  // namespace cuszi::gpu

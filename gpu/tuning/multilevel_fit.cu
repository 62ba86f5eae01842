#include <limits>

#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/tuning/approximate_reconstruction.cuh"
#include "gpu/tuning/multilevel_fit.cuh"
#include "gpu/tuning/stencil_fit.cuh"

namespace cuszi::gpu {

namespace {

template <class T>
__global__ void blank_missing(const T* values, std::uint64_t points, RankedBits missing,
                              T* cleaned) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= points) return;
  cleaned[i] = missing.test(i) ? std::numeric_limits<T>::quiet_NaN() : values[i];
}

template <class T>
PlannedFrames<T> planned_in_pinned(DeviceContext& gpu, const MultilevelParams& params,
                                   const FramePlan<T>& plan) {
  const std::size_t classes = plan.classes.size();
  auto* const plans = gpu.take_pinned<ClassPlan<T>>(classes);
  std::copy(plan.classes.begin(), plan.classes.end(), plans);
  return {std::span(&params, 1), {plan.grid}, {0, classes}, plans};
}

/// Room for samples of this size of the classes that are fitted.
template <class T>
ClassSamples<T> samples_of(DeviceContext& gpu, const PlannedFrames<T>& planned, FitSample size) {
  return {gpu, planned, [&](const PointClass& points, const Stencil& stencil) {
            const bool is_fitted = stencil.size >= 2 && points.points() >= fewest_fit_points;
            return is_fitted ? stencil_sample(points.points(), size) : 0;
          }};
}

}  // namespace

template <class T>
const T* without_missing(DeviceContext& gpu, const FrameInput<T>& frame) {
  if (frame.missing_points == 0) return frame.values;
  const std::uint64_t points = count_of(frame.extents);
  auto* const cleaned = gpu.take<T>(points);
  blank_missing<<<blocks_for(points, ItemPolicy::threads), ItemPolicy::threads, 0, gpu.stream()>>>(
      frame.values, points, frame.missing, cleaned);
  check_launch("blank_missing");
  return cleaned;
}

template <class T>
void fit_coefficients(DeviceContext& gpu, FrameMemory& memory, MultilevelParams& params,
                      const FrameInput<T>& frame, const T* values, FitSample size) {
  params.coefficients.clear();
  const FramePlan<T> plan = plan_frame<T>(params, frame.min, frame.max);
  const std::size_t classes = plan.classes.size();
  auto* const fits = gpu.take<FittedClass>(classes);
  const PlannedFrames<T> planned = planned_in_pinned(gpu, params, plan);

  ClassSamples<T> rough = samples_of(gpu, planned, FitSample::trial);
  rough.observe(values);
  fit_stencils(gpu, rough, FitTo::originals, nullptr, fits);

  const ApproximateReconstruction<T> approximation =
      approximate(gpu, memory, params, plan, rough.plans(), fits, frame, values);
  ClassSamples<T> samples = samples_of(gpu, planned, size);
  samples.observe(approximation);
  fit_stencils(gpu, samples, FitTo::approximate, fits, fits);
  const FittedClass* const on_host = download(gpu, fits, classes);
  gpu.sync();
  params.coefficients.reserve(classes);
  for (std::size_t i = 0; i < classes; ++i) params.coefficients.push_back(on_host[i].list());
}

template const float* without_missing(DeviceContext&, const FrameInput<float>&);
template const double* without_missing(DeviceContext&, const FrameInput<double>&);
template void fit_coefficients(DeviceContext&, FrameMemory&, MultilevelParams&,
                               const FrameInput<float>&, const float*, FitSample);
template void fit_coefficients(DeviceContext&, FrameMemory&, MultilevelParams&,
                               const FrameInput<double>&, const double*, FitSample);

}  // namespace cuszi::gpu

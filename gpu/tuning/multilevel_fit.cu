#include <limits>

#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/tuning/multilevel_fit.cuh"

namespace cuszi::gpu {

namespace {

template <class T>
__global__ void blank_missing(const T* values, std::uint64_t points, RankedBits missing,
                              T* cleaned) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= points) return;
  cleaned[i] = missing.test(i) ? std::numeric_limits<T>::quiet_NaN() : values[i];
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

std::vector<Coefficients> PendingFit::coefficients() const {
  gpu->sync();
  std::vector<Coefficients> all;
  all.reserve(classes.size());
  for (const FittedClass& fitted : classes) all.push_back(fitted.list());
  return all;
}

template <class T>
PendingFit start_fit(DeviceContext& gpu, const MultilevelParams& params, const FrameInput<T>& frame,
                     const T* values) {
  const auto wanted = [](const PointClass& points, const Stencil& stencil) {
    const bool is_fitted = stencil.size >= 2 && points.points() >= fewest_fit_points;
    return is_fitted ? stencil_sample(points.points()) : 0;
  };
  ClassSamples<T> samples(gpu, {&params, 1}, frame, wanted);
  samples.observe(values);
  auto* const fits = gpu.take<FittedClass>(samples.classes());
  fit_stencils(gpu, samples, fits);
  return {&gpu, {download(gpu, fits, samples.classes()), samples.classes()}};
}

template const float* without_missing(DeviceContext&, const FrameInput<float>&);
template const double* without_missing(DeviceContext&, const FrameInput<double>&);
template PendingFit start_fit(DeviceContext&, const MultilevelParams&, const FrameInput<float>&,
                              const float*);
template PendingFit start_fit(DeviceContext&, const MultilevelParams&, const FrameInput<double>&,
                              const double*);

}  // namespace cuszi::gpu

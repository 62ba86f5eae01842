#include <limits>

#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
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
void fit_coefficients(DeviceContext& gpu, MultilevelParams& params, const FrameInput<T>& frame,
                      const T* values) {
  params.coefficients.clear();
  const auto wanted = [](const PointClass& points, const Stencil& stencil) {
    const bool is_fitted = stencil.size >= 2 && points.points() >= fewest_fit_points;
    return is_fitted ? stencil_sample(points.points()) : 0;
  };
  ClassSamples<T> samples(gpu, {&params, 1}, frame, wanted);
  samples.observe(values);
  auto* const fits = gpu.take<FittedClass>(samples.classes());
  fit_stencils(gpu, samples, fits);
  const FittedClass* const on_host = download(gpu, fits, samples.classes());
  gpu.sync();
  params.coefficients.reserve(samples.classes());
  for (std::size_t i = 0; i < samples.classes(); ++i) {
    params.coefficients.push_back(on_host[i].list());
  }
}

template const float* without_missing(DeviceContext&, const FrameInput<float>&);
template const double* without_missing(DeviceContext&, const FrameInput<double>&);
template void fit_coefficients(DeviceContext&, MultilevelParams&, const FrameInput<float>&,
                               const float*);
template void fit_coefficients(DeviceContext&, MultilevelParams&, const FrameInput<double>&,
                               const double*);

}  // namespace cuszi::gpu

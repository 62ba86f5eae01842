#include <algorithm>
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
void fit_coefficients(DeviceContext& gpu, std::span<MultilevelParams> all,
                      const FrameInput<T>& frame, const T* values) {
  const auto wanted = [](const PointClass& points, const Stencil& stencil) {
    const bool is_fitted = stencil.size >= 2 && points.points() >= fewest_fit_points;
    return is_fitted ? stencil_sample(points.points()) : 0;
  };
  ClassSamples<T> samples(gpu, all, frame, wanted);
  samples.observe(values);
  auto* const fits = gpu.take<FittedClass>(samples.classes());
  fit_stencils(gpu, samples, fits);
  const FittedClass* fitted = download(gpu, fits, samples.classes());
  gpu.sync();
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<Coefficients>& coefficients = all[i].coefficients;
    coefficients.resize(samples.plans_of(i).size());
    for (Coefficients& of_class : coefficients) of_class = (fitted++)->list();
  }
}

template <class T>
void Fits<T>::fit(std::span<MultilevelParams* const> all) {
  const std::size_t known = known_.size();
  for (const MultilevelParams* const params : all) {
    if (find(*params) == nullptr) known_.push_back(*params);
  }
  if (known_.size() > known) {
    fit_coefficients(gpu_, std::span(known_).subspan(known), frame_, values_);
  }
  for (MultilevelParams* const params : all) params->coefficients = find(*params)->coefficients;
}

template <class T>
const MultilevelParams* Fits<T>::find(const MultilevelParams& params) const {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const auto& other) { return have_same_fits(params, other); });
  return found == known_.end() ? nullptr : &*found;
}

template const float* without_missing(DeviceContext&, const FrameInput<float>&);
template const double* without_missing(DeviceContext&, const FrameInput<double>&);
template void fit_coefficients(DeviceContext&, std::span<MultilevelParams>,
                               const FrameInput<float>&, const float*);
template void fit_coefficients(DeviceContext&, std::span<MultilevelParams>,
                               const FrameInput<double>&, const double*);
template class Fits<float>;
template class Fits<double>;

}  // namespace cuszi::gpu

#include "gpu/runtime/copies.hpp"
#include "gpu/tuning/stencil_fit.cuh"

namespace cuszi::gpu {

namespace {

ClassErrors errors_from(const SampledErrors& found, const PointClass& points,
                        const Stencil& stencil) {
  ClassErrors errors;
  for (std::size_t i = 0; i < errors.errors.size(); ++i) {
    errors.errors[i] = {found.counts[i], found.sizes[i]};
  }
  errors.coefficients = found.fitted.list();
  errors.noise_gain = noise_gain_of(errors.coefficients, points, stencil);
  return errors;
}

}  // namespace

template <class T>
std::vector<std::vector<ClassErrors>> sampled_errors_of(
    DeviceContext& gpu, std::span<const MultilevelParams> candidates, const FrameInput<T>& frame,
    const T* values) {
  if (candidates.empty()) return {};
  const std::uint64_t all_points = count_of(frame.extents);
  const auto wanted = [&](const PointClass& points, const Stencil& /*stencil*/) {
    return sampled_cost_points(points.points(), all_points);
  };
  ClassSamples<T> samples(gpu, candidates, frame, wanted);
  samples.observe(values);
  auto* const found = gpu.take_zeroed<SampledErrors>(samples.classes());
  sum_sampled_errors(gpu, samples, candidates.front().half_step, found);
  const SampledErrors* const sums = download(gpu, found, samples.classes());
  std::vector<std::vector<ClassErrors>> all(candidates.size());
  gpu.sync();
  gpu.host().for_each(all.size(), [&](std::size_t i) {
    const std::span<const ClassPlan<T>> plans = samples.plans_of(i);
    const SampledErrors* next = sums + (plans.data() - samples.plans_of(0).data());
    all[i].reserve(plans.size());
    for (const ClassPlan<T>& c : plans) all[i].push_back(errors_from(*next++, c.points, c.stencil));
  });
  return all;
}

template std::vector<std::vector<ClassErrors>> sampled_errors_of(DeviceContext&,
                                                                 std::span<const MultilevelParams>,
                                                                 const FrameInput<float>&,
                                                                 const float*);
template std::vector<std::vector<ClassErrors>> sampled_errors_of(DeviceContext&,
                                                                 std::span<const MultilevelParams>,
                                                                 const FrameInput<double>&,
                                                                 const double*);

}  // namespace cuszi::gpu

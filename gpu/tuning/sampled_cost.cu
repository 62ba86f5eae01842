#include <memory>

#include "gpu/runtime/copies.hpp"
#include "gpu/tuning/sampled_cost.cuh"
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

/// Plans all classes of all candidates.
template <class T>
PlannedFrames<T> plan_candidates(DeviceContext& gpu, std::span<const MultilevelParams> candidates,
                                 const FrameInput<T>& frame) {
  PlannedFrames<T> planned{candidates, {}, {0}};
  std::vector<Schedule> schedules;
  schedules.reserve(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Lattice& lattice = candidates[i].lattice;
    const bool is_known = i != 0 && lattice == candidates[i - 1].lattice;
    schedules.push_back(is_known ? schedules.back() : make_schedule(lattice));
    planned.grids.push_back(schedules.back().grid);
    planned.firsts.push_back(planned.firsts.back() + schedules.back().classes.size());
  }
  planned.plans = gpu.take_pinned<ClassPlan<T>>(planned.classes());
  gpu.host().for_each(candidates.size(), [&](std::size_t i) {
    const std::span<ClassPlan<T>> plans = planned.classes_of(i);
    std::uninitialized_value_construct(plans.begin(), plans.end());
    plan_classes(candidates[i], schedules[i], frame.min, frame.max, plans);
  });
  return planned;
}

}  // namespace

template <class T>
std::vector<std::vector<ClassErrors>> sampled_errors_of(
    DeviceContext& gpu, std::span<const MultilevelParams> candidates, const FrameInput<T>& frame,
    const T* values) {
  if (candidates.empty()) return {};
  const std::uint64_t all_points = count_of(frame.extents);
  const PlannedFrames<T> planned = plan_candidates(gpu, candidates, frame);
  ClassSamples<T> samples(gpu, planned, [&](const PointClass& points, const Stencil&) {
    return sampled_cost_points(points.points(), all_points);
  });
  samples.observe(values);
  auto* const found = gpu.take_zeroed<SampledErrors>(samples.classes());
  sum_sampled_errors(gpu, samples, candidates.front().half_step, found);
  const SampledErrors* const sums = download(gpu, found, samples.classes());
  std::vector<std::vector<ClassErrors>> all(candidates.size());
  gpu.sync();
  gpu.host().for_each(all.size(), [&](std::size_t i) {
    const SampledErrors* next = sums + planned.firsts[i];
    all[i].reserve(planned.classes_of(i).size());
    for (const ClassPlan<T>& c : planned.classes_of(i)) {
      all[i].push_back(errors_from(*next++, c.points, c.stencil));
    }
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

#include "gpu/open_loop.cuh"
#include "gpu/stencil_fit.cuh"

namespace cuszi::gpu {

namespace {

ClassErrors errors_from(const OpenLoopClass& found, const PointClass& points,
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
std::vector<std::vector<ClassErrors>> open_loop_errors(Work& work,
                                                       std::span<const MultilevelParams> candidates,
                                                       const FrameInput<T>& frame,
                                                       const T* values) {
  if (candidates.empty()) return {};
  const std::uint64_t all_points = count_of(frame.extents);
  std::vector<FramePlan<T>> plans(candidates.size());
  work.host().for_each(plans.size(), [&](std::size_t i) {
    plans[i] = plan_frame<T>(candidates[i], frame.min, frame.max);
  });
  ClassSamples<T> samples(work, candidates, plans, [&](const PointClass& points, const Stencil&) {
    return open_loop_sample(points.points(), all_points);
  });
  samples.observe(values);
  auto* const found = work.take_zeroed<OpenLoopClass>(samples.classes());
  sum_open_loop_errors(work, samples, candidates.front().half_step, found);
  const OpenLoopClass* const sums = work.download(found, samples.classes());
  std::vector<std::size_t> firsts{0};  // of each candidate's classes
  for (const FramePlan<T>& plan : plans) firsts.push_back(firsts.back() + plan.classes.size());
  work.sync();
  std::vector<std::vector<ClassErrors>> all(plans.size());
  work.host().for_each(plans.size(), [&](std::size_t i) {
    const OpenLoopClass* next = sums + firsts[i];
    for (const ClassPlan<T>& c : plans[i].classes) {
      all[i].push_back(errors_from(*next++, c.points, c.stencil));
    }
  });
  return all;
}

template std::vector<std::vector<ClassErrors>> open_loop_errors(Work&,
                                                                std::span<const MultilevelParams>,
                                                                const FrameInput<float>&,
                                                                const float*);
template std::vector<std::vector<ClassErrors>> open_loop_errors(Work&,
                                                                std::span<const MultilevelParams>,
                                                                const FrameInput<double>&,
                                                                const double*);

}  // namespace cuszi::gpu

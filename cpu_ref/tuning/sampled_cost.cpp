#include "cpu_ref/tuning/sampled_cost.hpp"

#include <algorithm>

#include "core/multilevel/class_plan.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/tuning/class_samples.hpp"

namespace cuszi::cpu {

namespace {

/// Whether both have the same classes, whose samples the same bounds.
bool differ_in_reach_alone(const MultilevelParams& a, const MultilevelParams& b) {
  return a.lattice == b.lattice && a.half_step == b.half_step && a.alpha == b.alpha &&
         a.beta == b.beta && a.snap == b.snap && a.background == b.background;
}

/// The sampled errors of candidates that differ in their reach alone. The neighbours of a point are
/// read once for all candidates.
template <class T>
std::vector<std::vector<ClassErrors>> errors_by_reach(std::span<const MultilevelParams> candidates,
                                                      const FrameInput<T>& frame, const T* values) {
  std::vector<FramePlan<T>> plans;
  for (const MultilevelParams& params : candidates) {
    plans.push_back(plan_frame<T>(params, frame.min, frame.max));
  }
  const auto farthest = static_cast<std::size_t>(
      std::max_element(candidates.begin(), candidates.end(),
                       [](const auto& a, const auto& b) { return a.reach < b.reach; }) -
      candidates.begin());
  const std::size_t classes = plans.front().classes.size();
  std::vector<std::vector<ClassErrors>> errors(candidates.size(),
                                               std::vector<ClassErrors>(classes));
  parallel_for(classes, [&](std::uint64_t i) {
    const ClassPlan<T>& whole = plans[farthest].classes[i];
    const PointClass& points = whole.points;
    const double bound = fit_bound(candidates.front(), points.level);
    const std::uint64_t wanted = sampled_cost_points(points.points(), frame.values.size());
    std::vector<StencilObserver<T>> views;
    views.reserve(plans.size());
    for (const FramePlan<T>& plan : plans) {
      views.emplace_back(points, plan.classes[i].stencil, whole.stencil, wanted,
                         static_cast<double>(whole.background));
    }
    sample_class(plans.front().grid, points, whole.stencil, wanted, bound, values,
                 std::span(views));
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      errors[c][i] = errors_of(views[c].finish(), plans[c].classes[i].stencil, points, bound,
                               candidates[c].half_step);
    }
  });
  return errors;
}

}  // namespace

template <class T>
std::vector<std::vector<ClassErrors>> sampled_errors_of(
    std::span<const MultilevelParams> candidates, const FrameInput<T>& frame, const T* values) {
  std::vector<std::vector<ClassErrors>> errors;
  while (errors.size() < candidates.size()) {
    const auto rest = candidates.subspan(errors.size());
    const auto end = std::find_if_not(rest.begin(), rest.end(), [&](const MultilevelParams& next) {
      return differ_in_reach_alone(rest.front(), next);
    });
    auto some =
        errors_by_reach(rest.first(static_cast<std::size_t>(end - rest.begin())), frame, values);
    std::move(some.begin(), some.end(), std::back_inserter(errors));
  }
  return errors;
}

template std::vector<std::vector<ClassErrors>> sampled_errors_of(std::span<const MultilevelParams>,
                                                                 const FrameInput<float>&,
                                                                 const float*);
template std::vector<std::vector<ClassErrors>> sampled_errors_of(std::span<const MultilevelParams>,
                                                                 const FrameInput<double>&,
                                                                 const double*);

}  // namespace cuszi::cpu

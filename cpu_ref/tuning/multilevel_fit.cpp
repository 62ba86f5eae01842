#include <algorithm>
#include <limits>

#include "core/multilevel/class_plan.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/multilevel/multilevel.hpp"
#include "cpu_ref/tuning/class_samples.hpp"
#include "cpu_ref/tuning/trials.hpp"

namespace cuszi::cpu {

namespace {

/// Samples of such candidates are alike.
bool differ_in_reach_alone(const MultilevelParams& a, const MultilevelParams& b) {
  return a.lattice == b.lattice && a.half_step == b.half_step && a.alpha == b.alpha &&
         a.beta == b.beta && a.snap == b.snap && a.background == b.background;
}

/// Candidates differ in reach only; neighbours are read once.
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
    sample_class(plans.front().grid, whole, wanted, bound, values, std::span(views));
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      errors[c][i] = errors_of(views[c].finish(), plans[c].classes[i].stencil, points, bound,
                               candidates[c].half_step);
    }
  });
  return errors;
}

}  // namespace

ClassErrors errors_of(const Observations& sample, const Stencil& stencil, const PointClass& points,
                      double bound, double half_step) {
  ClassErrors errors;
  errors.coefficients = fit_stencil(sample, stencil, points, bound, least_sampled_fit);
  errors.noise_gain = noise_gain_of(errors.coefficients, points, stencil);
  const Shares unknowns = errors.coefficients.empty() ? preset_unknowns(points, stencil)
                                                      : unknowns_of(errors.coefficients);
  for (std::uint64_t k = 0; k < sample.samples(); ++k) {
    const std::size_t block = k / sum_lanes;
    const std::size_t lane = k % sum_lanes;
    if (sample.taking_part(block)[lane] == 0) continue;
    const double* const row = sample.row(block, 0) + lane;
    const double spread = neighbour_spread(row, sum_lanes, sample.unknowns());
    const double residual =
        residual_of(row, sum_lanes, sample.targets(block)[lane], sample.unknowns(), unknowns);
    ClassErrors::Some& some =
        errors.errors.at(static_cast<std::size_t>(error_bin_of(error_size(spread, half_step))));
    ++some.count;
    some.size += error_size(residual, half_step);
  }
  return errors;
}

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

template <class T>
std::vector<T> without_missing(const FrameInput<T>& frame) {
  if (!frame.mask.any()) return {};
  std::vector<T> values(frame.values.begin(), frame.values.end());
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    if (frame.mask(i)) values[i] = std::numeric_limits<T>::quiet_NaN();
  }
  return values;
}

template <class T>
void fit_coefficients(MultilevelParams& params, const FrameInput<T>& frame) {
  const std::vector<T> cleaned = without_missing(frame);
  const T* const values = cleaned.empty() ? frame.values.data() : cleaned.data();
  params.coefficients.clear();
  const FramePlan<T> plan = plan_frame<T>(params, frame.min, frame.max);
  std::vector<Coefficients> fitted(plan.classes.size());
  parallel_for(fitted.size(), [&](std::uint64_t i) {
    const ClassPlan<T>& c = plan.classes[i];
    if (c.stencil.size < 2 || c.points.points() < fewest_fit_points) return;
    const double bound = fit_bound(params, c.points.level);
    const std::uint64_t wanted = stencil_sample(c.points.points());
    StencilObserver<T> view(c.points, c.stencil, c.stencil, wanted);
    sample_class(plan.grid, c, wanted, bound, values, std::span(&view, 1));
    fitted[i] = fit_stencil(view.finish(), c.stencil, c.points, bound, fewest_fit_points);
  });
  params.coefficients = std::move(fitted);
}

template std::vector<float> without_missing(const FrameInput<float>&);
template std::vector<double> without_missing(const FrameInput<double>&);
template void fit_coefficients(MultilevelParams&, const FrameInput<float>&);
template void fit_coefficients(MultilevelParams&, const FrameInput<double>&);
template std::vector<std::vector<ClassErrors>> sampled_errors_of(std::span<const MultilevelParams>,
                                                                 const FrameInput<float>&,
                                                                 const float*);
template std::vector<std::vector<ClassErrors>> sampled_errors_of(std::span<const MultilevelParams>,
                                                                 const FrameInput<double>&,
                                                                 const double*);

}  // namespace cuszi::cpu

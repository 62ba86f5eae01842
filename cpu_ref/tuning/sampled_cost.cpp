#include <algorithm>

#include "core/multilevel/class_plan.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/wide_vectors.hpp"
#include "cpu_ref/tuning/class_samples.hpp"
#include "cpu_ref/tuning/trials.hpp"

namespace cuszi::cpu {

namespace {

void add_errors(const Observations& sample, std::size_t block, const Shares& unknowns,
                double half_step, ClassErrors& errors) {
  double residuals[sum_lanes];
  double apart[sum_lanes] = {};
  std::copy_n(sample.targets(block), sum_lanes, residuals);
  for (unsigned i = 0; i < sample.unknowns(); ++i) {
    const double* const row = sample.row(block, i);
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
      residuals[lane] -= unknowns[i] * row[lane];
      apart[lane] += magnitude_of(row[lane]);
    }
  }
  for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
    if (sample.taking_part(block)[lane] == 0) continue;
    const double mean = sample.unknowns() == 0 ? 0 : apart[lane] / sample.unknowns();
    ClassErrors::Some& some =
        errors.errors.at(static_cast<std::size_t>(error_bin_of(error_size(mean, half_step))));
    ++some.count;
    some.size += error_size(residuals[lane], half_step);
  }
}

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

ClassErrors errors_of(const Observations& sample, const Stencil& stencil, const PointClass& points,
                      double bound, double half_step) {
  ClassErrors errors;
  errors.coefficients = fit_stencil(sample, stencil, points, bound, least_sampled_fit);
  errors.noise_gain = noise_gain_of(errors.coefficients, points, stencil);
  const Shares unknowns = errors.coefficients.empty() ? preset_unknowns(points, stencil)
                                                      : unknowns_of(errors.coefficients);
  with_wide_vectors([&] {
    for (std::size_t block = 0; block < sample.blocks(); ++block) {
      add_errors(sample, block, unknowns, half_step, errors);
    }
  });
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

template std::vector<std::vector<ClassErrors>> sampled_errors_of(std::span<const MultilevelParams>,
                                                                 const FrameInput<float>&,
                                                                 const float*);
template std::vector<std::vector<ClassErrors>> sampled_errors_of(std::span<const MultilevelParams>,
                                                                 const FrameInput<double>&,
                                                                 const double*);

}  // namespace cuszi::cpu

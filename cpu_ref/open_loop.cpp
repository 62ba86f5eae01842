#include "cpu_ref/open_loop.hpp"

#include "core/class_plan.hpp"
#include "core/place.hpp"
#include "cpu_ref/parallel.hpp"

namespace cuszi::cpu {

namespace {

template <class T>
Observations observe_class(const Grid& grid, const ClassPlan<T>& plan, std::uint64_t all_points,
                           double bound, const T* values) {
  const PointClass& points = plan.points;
  const std::uint64_t all = points.points();
  const std::uint64_t wanted = open_loop_sample(all, all_points);
  Observations sample(plan.stencil.size == 0 ? 0 : plan.stencil.size - 1U, wanted);
  for (std::uint64_t k = 0; k < wanted; ++k) {
    const Index4 at = position_of(points, raster_point(points, sampled_point(k, wanted, all)));
    const T* const value = values + offset_of(grid, at);
    double* const row = sample.row(k / sum_lanes, 0) + k % sum_lanes;
    sample.set(
        k, observe_point(plan, grid, at, *value, GroupSums(plan, grid, at, value), row, sum_lanes),
        bound);
  }
  sample.make_bins();
  return sample;
}

}  // namespace

template <class T>
std::vector<ClassErrors> open_loop_errors(const MultilevelParams& params,
                                          const FrameInput<T>& frame, const T* values) {
  const FramePlan<T> plan = plan_frame<T>(params, frame.min, frame.max);
  std::vector<ClassErrors> errors(plan.classes.size());
  parallel_for(errors.size(), [&](std::uint64_t i) {
    const ClassPlan<T>& c = plan.classes[i];
    const double bound = params.half_step_of(c.points.level);
    const Observations sample = observe_class(plan.grid, c, frame.values.size(), bound, values);
    errors[i] = errors_of(sample, c.stencil, c.points, bound, params.half_step);
  });
  return errors;
}

template std::vector<ClassErrors> open_loop_errors(const MultilevelParams&,
                                                   const FrameInput<float>&, const float*);
template std::vector<ClassErrors> open_loop_errors(const MultilevelParams&,
                                                   const FrameInput<double>&, const double*);

}  // namespace cuszi::cpu

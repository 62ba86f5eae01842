#include "cpu_ref/open_loop.hpp"

#include "core/class_plan.hpp"
#include "core/place.hpp"
#include "cpu_ref/parallel.hpp"

namespace cuszi::cpu {

namespace {

/// Whether all taps of a point so far inside the array are in it.
bool has_all_taps(const Grid& grid, const Index4& margins, const Index4& at) {
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (at[axis] < margins[axis] || at[axis] + margins[axis] >= grid.extents[axis]) return false;
  }
  return true;
}

/// core's observe(), for points that have taps and all of them.
template <class T>
Observation observe_inside(const ClassPlan<T>& plan, const T* value, double* row) {
  const auto sum_of = [&](unsigned g) {
    const std::int64_t* const offsets = plan.stencil_offsets.data() + plan.stencil.begin(g);
    T pairs = value[offsets[0]] + value[offsets[1]];
    for (unsigned i = 2; i < plan.stencil.taps_of(g); i += 2) {
      pairs += value[offsets[i]] + value[offsets[i + 1]];
    }
    return pairs;
  };
  return observe_sums(plan.stencil, plan.points, *value, sum_of, row, sum_lanes);
}

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
    const bool is_inside = plan.stencil.size != 0 && has_all_taps(grid, plan.stencil_margins, at);
    const PointAt<const T*> p{grid, points, at, value};
    sample.set(k,
               is_inside ? observe_inside(plan, value, row)
                         : observe_in_open_loop(plan.stencil, plan.rest, p, row, sum_lanes),
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

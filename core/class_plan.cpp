#include "core/class_plan.hpp"

#include <algorithm>
#include <type_traits>

#include "core/energy.hpp"

namespace cuszi {

static_assert(std::is_trivially_copyable_v<ClassPlan<float>>);
static_assert(std::is_trivially_copyable_v<ClassPlan<double>>);

namespace {

/// Taps as distances in the array.
template <std::size_t count>
void set_offsets(std::span<const Tap> taps, const Grid& grid, const PointClass& points,
                 std::array<std::int64_t, count>& offsets) {
  std::transform(taps.begin(), taps.end(), offsets.begin(), [&](const Tap& tap) {
    std::int64_t offset = 0;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      offset += tap[axis] * stride_of(grid, points, axis);
    }
    return offset;
  });
}

template <class T>
void plan_prediction(const MultilevelParams& params, const Grid& grid, ClassPlan<T>& plan) {
  plan.stencil = stencil_of(params.lattice, params.reach, plan.points);
  set_shares(params.shares_of(plan.points, plan.stencil), plan);
  set_offsets(plan.stencil.all(), grid, plan.points, plan.stencil_offsets);
  plan.stencil_margins = margins_of(plan.points, plan.stencil.all());
  plan.snap = static_cast<T>(params.snap_radius_of(plan.points.level));
}

template <class T>
void plan_energy(const MultilevelParams& params, const Grid& grid, ClassPlan<T>& plan) {
  const PointClass& points = plan.points;
  plan.energy = energy_taps(params.lattice, points);
  set_offsets(plan.energy.all(), grid, points, plan.energy_offsets);
  std::vector<Tap> reached(plan.energy.all().begin(), plan.energy.all().end());
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (points.is_odd(axis)) reached.push_back(tap_at(axis, 3));
  }
  plan.energy_margins = margins_of(points, reached);
  const double bound = params.half_step_of(points.level);
  const double axes = points.order == 0 ? 1 : points.order;
  plan.slope_scale = static_cast<T>(energy_one / (bound * axes));
  plan.spread_scale = static_cast<T>(2 * energy_one / bound);
  plan.slice_scale = plan.spread_scale * static_cast<T>(0.25);
  plan.near_share = static_cast<T>(0.5) / static_cast<T>(axes);
}

}  // namespace

template <class T>
FramePlan<T> plan_frame(const MultilevelParams& params, double min, double max) {
  Schedule schedule = make_schedule(params.lattice);
  FramePlan<T> frame;
  frame.grid = schedule.grid;
  frame.coarse_passes = schedule.coarse_passes();
  frame.classes.reserve(schedule.classes.size());
  for (const PointClass& points : schedule.classes) {
    ClassPlan<T>& plan = frame.classes.emplace_back();
    plan.points = points;
    plan.rest = static_cast<T>(params.snap != 0 ? params.rest : min + (max - min) / 2);
    plan_prediction(params, frame.grid, plan);
    plan_energy(params, frame.grid, plan);
  }
  frame.passes = std::move(schedule.passes);
  return frame;
}

template FramePlan<float> plan_frame(const MultilevelParams&, double, double);
template FramePlan<double> plan_frame(const MultilevelParams&, double, double);

}  // namespace cuszi

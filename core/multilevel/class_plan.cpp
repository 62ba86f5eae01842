#include "core/multilevel/class_plan.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "core/multilevel/context.hpp"

namespace cuszi {

static_assert(std::is_trivially_copyable_v<ClassPlan<float>>);
static_assert(std::is_trivially_copyable_v<ClassPlan<double>>);

namespace {

/// Classes with equal keys have equal taps.
struct Surroundings {
  std::uint8_t odd = 0;
  bool enclosed = false;
  std::array<std::uint8_t, max_axes>
      reach{};  ///< along lattice axes, in units; no tap reaches farther

  static Surroundings of(const PointClass& points, const Lattice& lattice) {
    constexpr std::uint64_t farthest = 8;
    Surroundings here{points.odd, points.enclosed, {}};
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (lattice.roles[axis] != AxisRole::lattice) continue;
      const int log_unit = std::countr_zero(points.unit[axis]);
      here.reach[axis] =
          static_cast<std::uint8_t>(std::min((lattice.extents[axis] - 1) >> log_unit, farthest));
    }
    return here;
  }

  friend bool operator==(const Surroundings&, const Surroundings&) = default;
};

template <std::size_t count>
void set_offsets(std::span<const Tap> taps, const Grid& grid, const PointClass& points,
                 std::array<std::int64_t, count>& offsets) {
  std::array<std::int64_t, max_axes> strides{};
  for (unsigned axis = 0; axis < max_axes; ++axis) strides[axis] = stride_of(grid, points, axis);
  std::transform(taps.begin(), taps.end(), offsets.begin(), [&](const Tap& tap) {
    std::int64_t offset = 0;
    for (unsigned axis = 0; axis < max_axes; ++axis) offset += tap[axis] * strides[axis];
    return offset;
  });
}

/// Weights, offsets, margins and snap radius of a class whose stencil has its taps.
template <class T>
void plan_prediction(const MultilevelParams& params, const Grid& grid, ClassPlan<T>& plan) {
  set_shares(params.shares_of(plan.points, plan.stencil), plan);
  set_offsets(plan.stencil.all(), grid, plan.points, plan.stencil_offsets);
  plan.stencil_margins = margins_of(plan.points, plan.stencil.all());
  plan.snap = static_cast<T>(params.snap_radius_of(plan.points.level));
}

template <class T>
void plan_contexts(const MultilevelParams& params, const Grid& grid, ClassPlan<T>& plan) {
  constexpr std::uint64_t reach_of_slopes = 3;
  const PointClass& points = plan.points;
  set_offsets(plan.context_taps.all(), grid, points, plan.context_offsets);
  plan.context_margins = margins_of(points, plan.context_taps.all());
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (!points.is_odd(axis)) continue;
    std::uint64_t& margin = plan.context_margins[axis];
    margin = std::max(margin, reach_of_slopes * points.unit[axis]);
  }
  const double bound = params.half_step_of(points.level);
  const double axes = points.order == 0 ? 1 : points.order;
  plan.slope_scale = static_cast<T>(feature_one / (bound * axes));
  plan.spread_scale = static_cast<T>(2 * feature_one / bound);
}

}  // namespace

template <class T>
void plan_classes(const MultilevelParams& params, const Schedule& schedule, double min, double max,
                  std::span<ClassPlan<T>> plans) {
  std::vector<Surroundings> surroundings;
  surroundings.reserve(plans.size());
  for (const PointClass& points : schedule.classes) {
    ClassPlan<T>& plan = plans[points.index];
    plan.points = points;
    plan.background = static_cast<T>(params.snap != 0 ? params.background : min + (max - min) / 2);
    const auto here = Surroundings::of(points, params.lattice);
    // Usually those of the previous level.
    const auto alike = std::find(surroundings.rbegin(), surroundings.rend(), here);
    if (alike == surroundings.rend()) {
      plan.stencil = stencil_of(params.lattice, params.reach, points);
      plan.context_taps = context_taps_of(params.lattice, points);
    } else {
      const auto& other = plans[static_cast<std::size_t>(surroundings.rend() - alike) - 1];
      plan.stencil = other.stencil;
      plan.context_taps = other.context_taps;
    }
    surroundings.push_back(here);
    plan_prediction(params, schedule.grid, plan);
    plan_contexts(params, schedule.grid, plan);
  }
}

template <class T>
FramePlan<T> plan_frame(const MultilevelParams& params, double min, double max) {
  Schedule schedule = make_schedule(params.lattice);
  FramePlan<T> frame;
  frame.grid = schedule.grid;
  frame.coarse_passes = schedule.coarse_passes();
  frame.classes.resize(schedule.classes.size());
  plan_classes<T>(params, schedule, min, max, frame.classes);
  frame.passes = std::move(schedule.passes);
  return frame;
}

template void plan_classes(const MultilevelParams&, const Schedule&, double, double,
                           std::span<ClassPlan<float>>);
template void plan_classes(const MultilevelParams&, const Schedule&, double, double,
                           std::span<ClassPlan<double>>);
template FramePlan<float> plan_frame(const MultilevelParams&, double, double);
template FramePlan<double> plan_frame(const MultilevelParams&, double, double);

}  // namespace cuszi

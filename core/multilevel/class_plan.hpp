#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/field/quantizer.hpp"
#include "core/multilevel/multilevel.hpp"
#include "core/multilevel/stencil.hpp"
#include "core/multilevel/taps.hpp"

namespace cuszi {

/// What predictions and contexts of a class need; plain data, made once per frame.
template <class T>
struct ClassPlan {
  PointClass points;
  T background = 0;  ///< prediction of points without neighbours
  T snap = 0;        ///< predictions within this distance of `background` become it

  Stencil stencil;
  std::array<T, Stencil::most_groups> weights{};                   ///< per tap, by group
  std::array<std::int64_t, Stencil::most_taps> stencil_offsets{};  ///< in the array
  Index4 stencil_margins{};  ///< points at least this far inside have all taps

  ContextTaps context_taps;
  std::array<std::int64_t, ContextTaps::most_taps> context_offsets{};
  Index4 context_margins{};  ///< includes the slopes' neighbours
  T slope_scale = 0;         ///< for sums over the odd axes, to sixteenths of the bound
  T spread_scale = 0;        ///< for a difference, to 32nds
};

template <class T>
struct FramePlan {
  Grid grid;
  std::vector<Pass> passes;
  std::vector<ClassPlan<T>> classes;  ///< of all passes
  std::size_t coarse_passes = 0;      ///< see Schedule

  std::span<const ClassPlan<T>> classes_of(const Pass& pass) const {
    return std::span(classes).subspan(pass.first_class, pass.classes);
  }
};

/// `min` and `max` are the frame's range.
template <class T>
void plan_classes(const MultilevelParams& params, const Schedule& schedule, double min, double max,
                  std::span<ClassPlan<T>> plans);

/// `min` and `max` are the frame's range.
template <class T>
FramePlan<T> plan_frame(const MultilevelParams& params, double min, double max);

template <class T>
CUSZI_HD inline void set_shares(const StencilWeights& shares, ClassPlan<T>& plan) {
  for (unsigned g = 0; g < plan.stencil.size; ++g) {
    plan.weights[g] = static_cast<T>(shares[g] / plan.stencil.taps_of(g));
  }
}

/// Snaps a prediction to the background value. Happens before quantisation, so no bound depends on
/// it.
template <class T>
CUSZI_HD inline T snapped(T background, T snap, T interpolated) {
  return magnitude_of(interpolated - background) < snap ? background : interpolated;
}
template <class T>
CUSZI_HD inline T snapped(const ClassPlan<T>& plan, T interpolated) {
  return snapped(plan.background, plan.snap, interpolated);
}

/// Value in the hash of the coarse lattice. NaN payloads differ between processors, so NaN counts
/// as 0.
template <class T>
CUSZI_HD inline T value_to_hash(T value) {
  return value == value ? value : T{0};
}

/// Weighted sum of the stencil; a mean of splines at edges.
template <class T, class Values>
CUSZI_HD inline ValueAt<Values> interpolated(const ClassPlan<T>& plan, const PointAt<Values>& p) {
  if (plan.stencil.size == 0) return plan.background;
  if (is_at_edge(p)) return edge_prediction(p);
  ValueAt<Values> sum = 0;
  for (unsigned g = 0; g < plan.stencil.size; ++g) {
    sum += plan.weights[g] *
           group_sum(p, plan.stencil.taps.data() + plan.stencil.begin(g), plan.stencil.taps_of(g));
  }
  return sum;
}

template <class T>
CUSZI_HD inline T prediction(const ClassPlan<T>& plan, const PointAt<const T*>& p) {
  return snapped(plan, interpolated(plan, p));
}

// Inner points have all taps inside the array and need no edge checks.

CUSZI_HD inline bool is_inner(const Index4& at, const Index4& margins, const Index4& extents) {
  bool inner = true;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    inner = inner && at[axis] >= margins[axis] && at[axis] + margins[axis] < extents[axis];
  }
  return inner;
}

template <class ValueOf>
CUSZI_HD inline auto tap_sum(const Stencil& stencil, unsigned group, const ValueOf& value_of) {
  const unsigned begin = stencil.begin(group);
  auto sum = value_of(begin) + value_of(begin + 1);
  for (unsigned i = 2; i < stencil.taps_of(group); i += 2) {
    sum += value_of(begin + i) + value_of(begin + i + 1);
  }
  return sum;
}

template <class T, class Values>
CUSZI_HD inline ValueAt<Values> inner_group_sum(const ClassPlan<T>& plan, unsigned group,
                                                const Values& value) {
  return tap_sum(plan.stencil, group,
                 [&](unsigned tap) { return value[plan.stencil_offsets[tap]]; });
}

/// Needs a stencil with taps.
template <class T, class Values>
CUSZI_HD inline ValueAt<Values> inner_interpolated(const ClassPlan<T>& plan, const Values& value) {
  ValueAt<Values> sum = 0;
  for (unsigned g = 0; g < plan.stencil.size; ++g) {
    sum += plan.weights[g] * inner_group_sum(plan, g, value);
  }
  return sum;
}

}  // namespace cuszi

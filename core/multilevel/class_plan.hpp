#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/field/quantizer.hpp"
#include "core/multilevel/multilevel.hpp"
#include "core/multilevel/stencil.hpp"
#include "core/multilevel/taps.hpp"

namespace cuszi {

/// Everything that the passes compute with for the points of one class: plain data, to be copied to
/// where it is used. Made once per frame.
template <class T>
struct ClassPlan {
  PointClass points;
  T background = 0;  ///< what points without neighbours are predicted as
  T snap = 0;        ///< predictions nearer to `background` than this become it

  Stencil stencil;
  std::array<T, Stencil::most_groups> weights{};                   ///< of each tap of a group
  std::array<std::int64_t, Stencil::most_taps> stencil_offsets{};  ///< of taps in the array
  Index4 stencil_margins{};  ///< a point so far inside the array has all taps

  EnergyTaps energy;
  std::array<std::int64_t, EnergyTaps::most_taps> energy_offsets{};
  Index4 energy_margins{};  ///< for the slopes, too
  T slope_scale = 0;        ///< of sums over the odd axes, to sixteenths of the bound
  T spread_scale = 0;       ///< of a difference, to 32nds
  T slice_scale = 0;        ///< of the sum of two, to eighths
  T near_share = 0;         ///< what each near neighbour has of their mean
};

/// The way of all points of a frame.
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

/// Plans all classes of the schedule that the parameters' lattice makes; `min` and `max` are the
/// frame's range.
template <class T>
void plan_classes(const MultilevelParams& params, const Schedule& schedule, double min, double max,
                  std::span<ClassPlan<T>> plans);

/// Plans a frame: its schedule of passes and all classes. `min` and `max` are the range of the
/// frame.
template <class T>
FramePlan<T> plan_frame(const MultilevelParams& params, double min, double max);

/// Gives the taps of a class's groups their shares.
template <class T>
CUSZI_HD inline void set_shares(const StencilWeights& shares, ClassPlan<T>& plan) {
  for (unsigned g = 0; g < plan.stencil.size; ++g) {
    plan.weights[g] = static_cast<T>(shares[g] / plan.stencil.taps_of(g));
  }
}

/// The background value, if what neighbours say is so near to it. Before anything is quantised, so
/// that no bound depends on it.
template <class T>
CUSZI_HD inline T snapped(T background, T snap, T interpolated) {
  return magnitude_of(interpolated - background) < snap ? background : interpolated;
}
template <class T>
CUSZI_HD inline T snapped(const ClassPlan<T>& plan, T interpolated) {
  return snapped(plan.background, plan.snap, interpolated);
}

/// A restored value in the hash of the coarse lattice. What missing points are predicted as need
/// not be a number, and processors differ in the bits of what is none.
template <class T>
CUSZI_HD inline T value_to_hash(T value) {
  return value == value ? value : T{0};
}

/// What a point's neighbours say: the stencil's weighted sum from the first group on; at the edge,
/// where the stencil cannot be used, a mean of splines.
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

/// The prediction of a point of the class.
template <class T>
CUSZI_HD inline T prediction(const ClassPlan<T>& plan, const PointAt<const T*>& p) {
  return snapped(plan, interpolated(plan, p));
}

// Predictions of points that have all their taps inside the array, without checks for its edges.

/// Whether all points within `margins` of one are in the array.
CUSZI_HD inline bool is_inner(const Index4& at, const Index4& margins, const Index4& extents) {
  bool inner = true;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    inner = inner && at[axis] >= margins[axis] && at[axis] + margins[axis] < extents[axis];
  }
  return inner;
}

/// The sum of a group's taps, the i-th of which has the value value_of(i).
template <class ValueOf>
CUSZI_HD inline auto tap_sum(const Stencil& stencil, unsigned group, const ValueOf& value_of) {
  const unsigned begin = stencil.begin(group);
  auto sum = value_of(begin) + value_of(begin + 1);
  for (unsigned i = 2; i < stencil.taps_of(group); i += 2) {
    sum += value_of(begin + i) + value_of(begin + i + 1);
  }
  return sum;
}

/// group_sum() of an inner point.
template <class T, class Values>
CUSZI_HD inline ValueAt<Values> inner_group_sum(const ClassPlan<T>& plan, unsigned group,
                                                const Values& value) {
  return tap_sum(plan.stencil, group,
                 [&](unsigned tap) { return value[plan.stencil_offsets[tap]]; });
}

/// interpolated() of an inner point of a class that has taps.
template <class T, class Values>
CUSZI_HD inline ValueAt<Values> inner_interpolated(const ClassPlan<T>& plan, const Values& value) {
  ValueAt<Values> sum = 0;
  for (unsigned g = 0; g < plan.stencil.size; ++g) {
    sum += plan.weights[g] * inner_group_sum(plan, g, value);
  }
  return sum;
}

}  // namespace cuszi

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/multilevel/class_plan.hpp"
#include "core/multilevel/stencil.hpp"

namespace cuszi {

// What a fit or a trial sees of one sampled point: the groups of its neighbours, less the first
// one, and what they are to make together.

/// Which of the odd axes, counted from 0, a group of taps is the pair at +-3 of; that many if none.
CUSZI_HD inline unsigned far_pair_of(const PointClass& points, const Tap& tap) {
  unsigned before = 0;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (!points.is_odd(axis)) continue;
    if (tap[axis] == 3 || tap[axis] == -3) return before;
    ++before;
  }
  return before;
}

/// How much the values around a point curvature, as a number that grows by 2 with every doubling:
/// the sum over the odd axes of what near and far pairs differ, from 2^-8 to 2^24 bounds.
inline constexpr unsigned curvature_keys = 64;
CUSZI_HD inline std::uint8_t curvature_key(double curvature, double bound) {
  const double scaled = clamp_to(curvature / bound, 0x1p-8, 0x1.8p23);
  constexpr std::uint64_t first = std::bit_cast<std::uint64_t>(0x1p-8) >> 51;
  return static_cast<std::uint8_t>((std::bit_cast<std::uint64_t>(scaled) >> 51) - first);
}

/// One sampled point: row[i * stride] for the i-th unknown, and what they are to make together.
struct Observation {
  double target = 0;
  double curvature = 0;
  bool is_used = false;
};

/// Looks at a point whose original value is `value` and the groups of whose neighbours have these
/// sums. If it takes no part, because one of these is not finite, everything is 0.
template <class T, class SumOfGroup>
CUSZI_HD inline Observation observe_sums(const Stencil& stencil, const PointClass& points, T value,
                                         const SumOfGroup& sum_of, double* row,
                                         std::size_t stride) {
  Observation result;
  double near[max_axes] = {};
  auto sum = static_cast<double>(value);
  for (unsigned g = 0; g < stencil.size; ++g) {
    const auto in_group = static_cast<double>(sum_of(g));
    sum += in_group;
    const double mean = in_group / stencil.taps_of(g);
    if (g < points.order) near[g] = mean;
    if (g != 0) row[(g - 1) * stride] = mean - near[0];
    if (g >= points.order && stencil.taps_of(g) == 2) {
      const unsigned axis = far_pair_of(points, stencil.taps[stencil.begin(g)]);
      if (axis < points.order) result.curvature += 2 * std::fabs(near[axis] - mean);
    }
  }
  if (std::isfinite(sum)) {
    result.target = static_cast<double>(value) - near[0];
    result.is_used = true;
    return result;
  }
  for (unsigned i = 0; i + 1 < stencil.size; ++i) row[i * stride] = 0;
  return {};
}

/// Looks at a point whose original value is `value` and whose neighbours are p's. Missing originals
/// must be NaN. A point at the edge of the array is not used, and its row is set to 0.
template <class T, class Values>
CUSZI_HD inline Observation observe(const Stencil& stencil, const PointAt<Values>& p, T value,
                                    double* row, std::size_t stride) {
  if (!is_at_edge(p)) {
    const auto sum_of = [&](unsigned g) {
      return group_sum(p, stencil.taps.data() + stencil.begin(g), stencil.taps_of(g));
    };
    return observe_sums(stencil, p.points, value, sum_of, row, stride);
  }
  for (unsigned i = 0; i + 1 < stencil.size; ++i) row[i * stride] = 0;
  return {};
}

/// Looks at a point of a class, whose originals begin at `value`. A class without neighbours is
/// predicted as its background value.
template <class T>
CUSZI_HD inline Observation observe(const ClassPlan<T>& plan, const Grid& grid, const Index4& at,
                                    const T* value, double* row, std::size_t stride) {
  const PointAt<const T*> p{grid, plan.points, at, value};
  const Stencil& stencil = plan.stencil;
  if (stencil.size == 0) {
    Observation seen = observe(stencil, p, *value, row, stride);
    if (seen.is_used) seen.target -= static_cast<double>(plan.background);
    return seen;
  }
  if (!is_inner(at, plan.stencil_margins, grid.extents)) {
    return observe(stencil, p, *value, row, stride);
  }
  const auto sum_of = [&](unsigned g) { return inner_group_sum(plan, g, value); };
  return observe_sums(stencil, plan.points, *value, sum_of, row, stride);
}

}  // namespace cuszi

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/multilevel/class_plan.hpp"
#include "core/multilevel/stencil.hpp"

namespace cuszi {

// A sampled point for fits: tap groups minus the first one as unknowns, and their target.

/// Index of the odd axis whose far pair (+-3) the tap belongs to; the order of the class if none.
CUSZI_HD inline unsigned far_pair_of(const PointClass& points, const Tap& tap) {
  unsigned before = 0;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (!points.is_odd(axis)) continue;
    if (tap[axis] == 3 || tap[axis] == -3) return before;
    ++before;
  }
  return before;
}

/// Logarithmic key of the local curvature in bounds, +2 per doubling, from 2^-8 to 2^24. The
/// curvature is the sum over odd axes of |near - far pair|.
inline constexpr unsigned curvature_keys = 64;
CUSZI_HD inline std::uint8_t curvature_key(double curvature, double bound) {
  const double scaled = clamp_to(curvature / bound, 0x1p-8, 0x1.8p23);
  constexpr std::uint64_t first = std::bit_cast<std::uint64_t>(0x1p-8) >> 51;
  return static_cast<std::uint8_t>((std::bit_cast<std::uint64_t>(scaled) >> 51) - first);
}

struct Observation {
  double target = 0;
  double curvature = 0;
  bool is_used = false;
};

/// `row[i * stride]` gets unknown i. Observations with values that are not finite are unused and 0.
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

/// Missing originals must be NaN. Points at edges are unused.
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

/// `value` points to the point. Without neighbours, the background value is the prediction.
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

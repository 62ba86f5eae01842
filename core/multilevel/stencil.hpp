#pragma once

#include <type_traits>
#include <utility>

#include "core/multilevel/taps.hpp"

namespace cuszi {

/// `Values` is a pointer, or reads several points with the same neighbours at once.
template <class Values>
struct PointAt {
  const Grid& grid;
  const PointClass& points;
  Index4 at;
  Values value;
};

template <class Values>
using ValueAt = std::remove_cvref_t<decltype(*std::declval<const Values&>())>;

template <class Values>
CUSZI_HD inline bool is_inside(const PointAt<Values>& p, unsigned axis, int units) {
  const auto offset =
      static_cast<std::int64_t>(units) * static_cast<std::int64_t>(p.points.unit[axis]);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(p.at[axis]) + offset) <
         p.grid.extents[axis];
}

CUSZI_HD inline std::ptrdiff_t stride_of(const Grid& grid, const PointClass& points,
                                         unsigned axis) {
  return static_cast<std::ptrdiff_t>(grid.strides[axis] * points.unit[axis]);
}

/// Value at +-1 along an odd axis; mirrored outside the array.
template <class Values>
CUSZI_HD inline ValueAt<Values> near_value(const PointAt<Values>& p, unsigned axis,
                                           const Values& value, int side) {
  const int units = is_inside(p, axis, side) ? side : -side;
  return value[units * stride_of(p.grid, p.points, axis)];
}

/// Extrapolates equidistant values linearly or quadratically.
template <class V>
CUSZI_HD inline V after_two(const V& last, const V& before) {
  return (last + last) - before;
}
template <class V>
CUSZI_HD inline V after_three(const V& last, const V& before, const V& first) {
  return 3 * (last - before) + first;
}

/// Value at +-3, +-5 or +-7 along an odd axis. Outside the array, it is extrapolated from the
/// nearest three (or two) known values, so weights stay valid; with cubic weights this gives the
/// published quadratic form.
template <class Values>
CUSZI_HD inline ValueAt<Values> far_value(const PointAt<Values>& p, unsigned axis,
                                          const Values& value, int units) {
  using T = ValueAt<Values>;
  const std::ptrdiff_t stride = stride_of(p.grid, p.points, axis);
  if (is_inside(p, axis, units)) return value[units * stride];
  const int side = units < 0 ? -1 : 1;
  const T near = near_value(p, axis, value, side);
  const T opposite = near_value(p, axis, value, -side);
  T before = opposite;
  T last = near;
  for (int distance = 3; distance <= side * units; distance += 2) {
    T next;
    if (is_inside(p, axis, side * distance)) {
      next = value[side * distance * stride];
    } else if (distance == 3 && !is_inside(p, axis, -3 * side)) {
      next = after_two(near, opposite);
    } else if (distance == 3) {
      next = after_three<T>(near, opposite, value[-3 * side * stride]);
    } else {
      next = after_three(last, before, distance == 5 ? opposite : near);
    }
    // The three values before `next` on the axis are now before, last, next: -1, 1, 3 or 1, 3, 5.
    before = last;
    last = next;
  }
  return last;
}

/// Applies the part of a tap at distances up to 2; neighbours outside the array are mirrored.
template <class Values>
CUSZI_HD inline Values near_part(const PointAt<Values>& p, const Tap& tap) {
  Values value = p.value;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    const auto units = int{tap[axis]};
    if (units == 0 || units > 2 || units < -2) continue;
    if (is_inside(p, axis, units)) {
      value += units * stride_of(p.grid, p.points, axis);
    } else if (is_inside(p, axis, -units)) {
      value -= units * stride_of(p.grid, p.points, axis);
    }
  }
  return value;
}

template <class Values>
CUSZI_HD inline ValueAt<Values> tap_value(const PointAt<Values>& p, const Tap& tap) {
  const Values value = near_part(p, tap);
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (tap[axis] > 2 || tap[axis] < -2) return far_value(p, axis, value, tap[axis]);
  }
  return *value;
}

/// Adds pairs.
template <class Values>
CUSZI_HD inline ValueAt<Values> group_sum(const PointAt<Values>& p, const Tap* taps,
                                          std::size_t count) {
  ValueAt<Values> sum = tap_value(p, taps[0]) + tap_value(p, taps[1]);
  for (std::size_t i = 2; i < count; i += 2) {
    sum += tap_value(p, taps[i]) + tap_value(p, taps[i + 1]);
  }
  return sum;
}

template <class T>
CUSZI_HD inline T spline_from(T near_sum, T far_sum) {
  return near_sum * static_cast<T>(0.5625) - far_sum * static_cast<T>(0.0625);
}

/// Points at edges cannot use the stencil.
template <class Values>
CUSZI_HD inline bool is_at_edge(const PointAt<Values>& p) {
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (p.points.is_odd(axis) && !is_inside(p, axis, 1)) return true;
  }
  return false;
}

/// Mean of the splines along odd axes with both neighbours, else of linear extrapolations.
template <class Values>
CUSZI_HD inline ValueAt<Values> edge_prediction(const PointAt<Values>& p) {
  using T = ValueAt<Values>;
  T inner = 0;
  T outer = 0;
  int inner_axes = 0;
  int outer_axes = 0;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (!p.points.is_odd(axis)) continue;
    const std::ptrdiff_t stride = stride_of(p.grid, p.points, axis);
    if (is_inside(p, axis, 1)) {
      inner += spline_from(p.value[-stride] + p.value[stride],
                           far_value(p, axis, p.value, -3) + far_value(p, axis, p.value, 3));
      ++inner_axes;
    } else {
      const T near = p.value[-stride];
      outer += is_inside(p, axis, -3)
                   ? static_cast<T>(1.5) * near - static_cast<T>(0.5) * p.value[-3 * stride]
                   : near;
      ++outer_axes;
    }
  }
  return inner_axes != 0 ? inner / static_cast<float>(inner_axes)
                         : outer / static_cast<float>(outer_axes);
}

}  // namespace cuszi

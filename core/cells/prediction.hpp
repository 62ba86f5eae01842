#pragma once

#include "core/base/hd.hpp"

namespace cuszi {

// How `cells` predicts points of a cell from points of the same cell that have been restored. V is
// a value, or a vector of values that have the same neighbours; every sum has one order.

/// Which neighbours a point has along an odd axis, besides that one spacing below: those three
/// spacings below, one above and three above, if they are inside the cell and the field. Of the odd
/// places of a line, number k has what of(k, inner) says; `inner` of them have a neighbour above:
/// the last coordinate of the cell over twice the spacing.
struct LineNeighbours {
  bool far_left;
  bool right;
  bool far_right;

  CUSZI_HD static constexpr LineNeighbours of(int k, int inner) {
    return {k >= 1, k < inner, k + 1 < inner};
  }
};

/// The weights of the neighbours at -3, -1, 1 and 3 spacings. Those that do not exist have weight
/// 0, and any finite value stands for them.
template <class T>
struct SplineWeights {
  T far_left;
  T left;
  T right;
  T far_right;
};

template <class T>
CUSZI_HD constexpr SplineWeights<T> spline_weights(const LineNeighbours& known) {
  if (!known.right) {
    if (known.far_left) return {T(-0.5), T(1.5), T(0), T(0)};
    return {T(0), T(1), T(0), T(0)};
  }
  if (known.far_left && known.far_right) return {T(-0.0625), T(0.5625), T(0.5625), T(-0.0625)};
  if (known.far_left) return {T(-0.125), T(0.75), T(0.375), T(0)};
  if (known.far_right) return {T(0), T(0.375), T(0.75), T(-0.125)};
  return {T(0), T(0.5), T(0.5), T(0)};
}

template <class W, class V>
CUSZI_HD inline V spline_value(const SplineWeights<W>& c, const V& far_left, const V& left,
                               const V& right, const V& far_right) {
  return (c.left * left + c.right * right) + (c.far_left * far_left + c.far_right * far_right);
}
template <class V>
CUSZI_HD inline V spline_value(const LineNeighbours& known, const V& far_left, const V& left,
                               const V& right, const V& far_right) {
  return spline_value(spline_weights<V>(known), far_left, left, right, far_right);
}

/// The mean of the four neighbours that are odd along neither of two axes; the second sign is that
/// of the faster one.
template <class T, class V>
CUSZI_HD inline V diagonal_mean(const V& low_low, const V& high_low, const V& low_high,
                                const V& high_high) {
  return T(0.25) * ((low_low + high_low) + (low_high + high_high));
}

/// What a point takes of its splines, the slower axis first, and with two odd axes of the mean of
/// its diagonals.
template <class T>
struct ClassWeights {
  T of[3];
};

template <class W, class V>
CUSZI_HD inline V weighted(const ClassWeights<W>& w, const V& a, const V& b, const V& c) {
  return (w.of[0] * a + w.of[1] * b) + w.of[2] * c;
}

/// The weights of a point that has no neighbour above along some odd axis: no diagonals, and the
/// fitted weights, but no less than some least one, of the splines that have such a neighbour, or
/// of all if none has. `known` tells which have, the slower axis first.
template <class T>
CUSZI_HD constexpr ClassWeights<T> border_weights(const ClassWeights<T>& fitted, int axes,
                                                  const bool (&known)[3]) {
  constexpr T least = T(0.0625);
  const bool any = known[0] || known[1] || known[2];
  ClassWeights<T> weights{};
  T sum = 0;
  for (int i = 0; i < axes; ++i) {
    if (any && !known[i]) continue;
    weights.of[i] = fitted.of[i] < least ? least : fitted.of[i];
    sum = sum + weights.of[i];
  }
  for (int i = 0; i < axes; ++i) weights.of[i] = weights.of[i] / sum;
  return weights;
}
/// The weights of a point of a class.
template <class T>
CUSZI_HD constexpr ClassWeights<T> effective_weights(const ClassWeights<T>& fitted, bool a,
                                                     bool b) {
  return a && b ? fitted : border_weights(fitted, 2, {a, b, false});
}
template <class T>
CUSZI_HD constexpr ClassWeights<T> effective_weights(const ClassWeights<T>& fitted, bool a, bool b,
                                                     bool c) {
  return a && b && c ? fitted : border_weights(fitted, 3, {a, b, c});
}

}  // namespace cuszi

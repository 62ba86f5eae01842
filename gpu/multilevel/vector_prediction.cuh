#pragma once

#include "gpu/multilevel/vector_pass.cuh"

namespace cuszi::gpu {

/// core's interpolated() for all planes of a thread, in the same order.
template <class T, Family family, Tiles tiles>
class VectorPrediction {
 public:
  using V = Vec<T>;
  static constexpr int planes = planes_of<tiles>;

  __device__ VectorPrediction(const VectorRows<T, family, tiles>& rows,
                              const VectorPlace<T, family, tiles>& place, int reach)
      : rows_(rows),
        place_(place),
        weights_(place.of_class().weights),
        distances_((reach + 1) / 2) {}

  __device__ void predict(V (&out)[planes]) {
    load_column();
    find_beside_a(0);
    CUSZI_UNROLL
    for (int k = 0; k < planes; ++k) {
      find_beside_a(k + 1);
      has_sum_ = false;
      add_pairs(k);
      add_diagonals(k);
      add_sides(k);
      put_edge_predictions();
      out[k] = sum_;
    }
  }

 private:
  static constexpr int axes =
      (has_a(family) ? 1 : 0) + (has_b(family) ? 1 : 0) + (has_x(family) ? 1 : 0);
  static constexpr int most_distances = 4;
  static constexpr int column = planes + 2 * most_distances - 1;

  /// Rows along a at odd distances from -7 on.
  __device__ void load_column() {
    CUSZI_UNROLL
    for (int j = 0; j < (has_a(family) ? column : 0); ++j) {
      constexpr int nearest = most_distances - 1;
      const int m = j < nearest                ? nearest - j
                    : j > column - 1 - nearest ? j - (column - 1 - nearest)
                                               : 0;
      if (m < 2 || m < distances_)
        column_[j] = rows_.at(2 * j - (2 * most_distances - 1), 0, has_x(family));
    }
  }

  /// Sums beside the j-th row along a, shared by both adjacent planes.
  __device__ void find_beside_a(int j) {
    const int da = 2 * j - 1;
    if constexpr (family == Family::a || family == Family::ax) {
      across_b_[j % 2] = rows_.at(da, -2, has_x(family)) + rows_.at(da, 2, has_x(family));
    }
    if constexpr (family == Family::a || family == Family::ab) {
      beside_[j % 2] = rows_.beside(da, 0, column_[j + most_distances - 1]);
    }
    if constexpr (has_b(family)) {
      across_b_[j % 2] = rows_.at(da, -1, has_x(family)) + rows_.at(da, 1, has_x(family));
    }
    if constexpr (family == Family::ax || family == Family::abx) beside_[j % 2] = pairs_in(da, 0);
    if constexpr (family == Family::abx) {
      low_corners_[j % 2] = pairs_in(da, -1);
      high_corners_[j % 2] = pairs_in(da, 1);
    }
  }

  __device__ V pairs_in(int da, int db) const {
    return pairs(rows_.at(da, db, false), rows_.behind(da, db));
  }

  __device__ void add(T weight, const V& group) {
    CUSZI_UNROLL
    for (int i = 0; i < V::size; ++i) {
      const T term = weight * group.of[i];
      sum_.of[i] = has_sum_ ? sum_.of[i] + term : term;
    }
    has_sum_ = true;
  }
  /// The m-th pair along an axis.
  __device__ void add_pair(const T*& weight, int axis, int m, const V& pair) {
    if (m == 0) near_[axis] = pair;
    if (m == 1) far_[axis] = pair;
    add(*weight++, pair);
  }
  /// The next group after the pairs.
  __device__ void add_group(unsigned& number, const V& group) {
    add(weights_[static_cast<unsigned>(axes * distances_) + number], group);
    ++number;
  }

  __device__ void add_pairs(int k) {
    V even{};
    if constexpr (has_x(family)) even = rows_.at(2 * k, 0, false);
    RowWindow<T> window;
    if constexpr (has_x(family)) window = rows_.window(2 * k, even);
    CUSZI_UNROLL
    for (int m = 0; m < most_distances; ++m) {
      if (m >= 2 && m >= distances_) continue;
      const T* weight = weights_ + m * axes;
      if constexpr (has_a(family)) {
        add_pair(weight, 0, m,
                 column_[k + most_distances - 1 - m] + column_[k + most_distances + m]);
      }
      if constexpr (has_b(family)) {
        const int d = 2 * m + 1;
        add_pair(weight, 1, m,
                 rows_.at(2 * k, -d, has_x(family)) + rows_.at(2 * k, d, has_x(family)));
      }
      if constexpr (has_x(family)) {
        V pair;
        CUSZI_UNROLL
        for (int i = 0; i < V::size; ++i) pair.of[i] = window[i - m] + window[i + 1 + m];
        add_pair(weight, 2, m, pair);
        if (m < 2) last_x_[m] = window[V::size - 1 - m];
      }
    }
  }

  __device__ void add_diagonals(int k) {
    unsigned number = 0;
    if constexpr (has_b(family)) add_group(number, across_b_[0] + across_b_[1]);
    if constexpr (family == Family::ax) add_group(number, beside_[0] + beside_[1]);
    if constexpr (family == Family::abx) {
      add_group(number, beside_[0] + beside_[1]);
      add_group(number, pairs_in(2 * k, -1) + pairs_in(2 * k, 1));
      const int low = k % 2;
      const int high = 1 - low;
      V corners = low_corners_[low] + high_corners_[low];
      corners = corners + low_corners_[high];
      add_group(number, corners + high_corners_[high]);
    }
  }

  __device__ void add_sides(int k) {
    unsigned number = family == Family::ab || family == Family::ax ? 1 : 0;
    if constexpr (family == Family::a || family == Family::ax) {
      add_group(number, across_b_[0] + across_b_[1]);
    }
    if constexpr (family == Family::a || family == Family::ab) {
      add_group(number, beside_[0] + beside_[1]);
    }
    if constexpr (family == Family::ab) {
      add_group(number, rows_.beside(2 * k, -1, rows_.at(2 * k, -1, false)) +
                            rows_.beside(2 * k, 1, rows_.at(2 * k, 1, false)));
    }
    if constexpr (family == Family::x) {
      const V both = rows_.at(2 * k - 2, 0, false) + rows_.at(2 * k + 2, 0, false);
      add_group(number, pairs(both, rows_.behind(2 * k - 2, 0) + rows_.behind(2 * k + 2, 0)));
    }
    if constexpr (family == Family::x || family == Family::ax) {
      const V both = rows_.at(2 * k, -2, false) + rows_.at(2 * k, 2, false);
      add_group(number, pairs(both, rows_.behind(2 * k, -2) + rows_.behind(2 * k, 2)));
    }
  }

  /// Replaces sums of points without a neighbour at +1.
  __device__ void put_edge_predictions() {
    if constexpr (tiles == Tiles::faces) {
      const bool a_edge = has_a(family) && !place_.is_inside_a(1);
      const bool b_edge = has_b(family) && !place_.is_inside_b(1);
      if (a_edge || b_edge) {
        CUSZI_UNROLL
        for (int i = 0; i < V::size; ++i) sum_.of[i] = edge_prediction(i, a_edge, b_edge);
        return;
      }
    }
    if (has_x(family) && place_.at_end()) {
      sum_.of[V::size - 1] = edge_prediction(V::size - 1, false, false);
    }
  }

  /// `a_edge` and `b_edge`: no neighbour at +1 along a and b.
  __device__ T edge_prediction(int i, bool a_edge, bool b_edge) const {
    T inner = 0;
    T outer = 0;
    int inner_axes = 0;
    int outer_axes = 0;
    const auto add_inner = [&](int axis) {
      inner += spline_from(near_[axis].of[i], far_[axis].of[i]);
      ++inner_axes;
    };
    const auto add_outer = [&](T near, T far) {
      outer += static_cast<T>(1.5) * near - static_cast<T>(0.5) * far;
      ++outer_axes;
    };
    if constexpr (has_a(family)) {
      if (!a_edge) add_inner(0);
      if (a_edge)
        add_outer(rows_.at(-1, 0, has_x(family)).of[i], rows_.at(-3, 0, has_x(family)).of[i]);
    }
    if constexpr (has_b(family)) {
      if (!b_edge) add_inner(1);
      if (b_edge)
        add_outer(rows_.at(0, -1, has_x(family)).of[i], rows_.at(0, -3, has_x(family)).of[i]);
    }
    if constexpr (has_x(family)) {
      const bool x_edge = i == V::size - 1 && place_.at_end();
      if (!x_edge) add_inner(2);
      if (x_edge) add_outer(last_x_[0], last_x_[1]);
    }
    return inner_axes != 0 ? inner / static_cast<float>(inner_axes)
                           : outer / static_cast<float>(outer_axes);
  }

  const VectorRows<T, family, tiles>& rows_;
  const VectorPlace<T, family, tiles>& place_;
  const T* weights_;
  int distances_;  ///< number of 1, 3 .. reach
  V column_[column];
  V across_b_[2];  ///< by j % 2, of rows at odd distances along a
  V beside_[2];
  V low_corners_[2];
  V high_corners_[2];
  V near_[3];    ///< sums of pairs at 1 along a, b and x
  V far_[3];     ///< at 3
  T last_x_[2];  ///< values at -1 and -3 along x of the last point
  V sum_;
  bool has_sum_;
};

}  // namespace cuszi::gpu

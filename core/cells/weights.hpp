#pragma once

#include <array>
#include <cstdint>

#include "core/base/least_squares.hpp"
#include "core/cells/grid.hpp"
#include "core/cells/prediction.hpp"
#include "core/cells/quantiser.hpp"
#include "core/field/sample.hpp"
#include "core/tuning/fit_sample.hpp"

namespace cuszi {

// Which weights the classes with two or three odd axes get: reweighted least squares on a sample of
// original values, whose neighbours are originals, too, as in core/tuning/stencil_fit. The unknowns
// are the weights but the first, since their sum is 1. Noise in the equations stands for what
// restored neighbours differ from originals by.

inline constexpr int weight_one = 1024;
inline constexpr int most_weight = 4096;

/// The weights of a class but the first, in 1024ths.
struct CoarseWeights {
  std::int16_t second;
  std::int16_t third;

  CUSZI_HD int first() const { return weight_one - second - third; }
  template <class T>
  CUSZI_HD ClassWeights<T> values() const {
    constexpr T unit = T(1) / T(weight_one);
    return {{static_cast<T>(first()) * unit, static_cast<T>(second) * unit,
             static_cast<T>(third) * unit}};
  }
  CUSZI_HD bool is_valid() const {
    const auto in_range = [](int w) { return w >= -most_weight && w <= most_weight; };
    return in_range(first()) && in_range(second) && in_range(third);
  }
  friend bool operator==(const CoarseWeights&, const CoarseWeights&) = default;
};

/// What a class has without a fit: equal shares of its splines.
CUSZI_HD constexpr CoarseWeights equal_weights(int odd) {
  if (order_of(odd) == 3) return {weight_one / 3, weight_one / 3};
  return {weight_one / 2, 0};
}

/// By level and number of class; those of classes with one odd axis mean nothing.
struct CellsWeights {
  static constexpr int most_classes = 7;
  CoarseWeights of[most_cell_levels][most_classes];
};

inline constexpr std::uint64_t most_cell_fit_points = 1024;
/// How many points of a class a fit looks at: for a small frame, more cost time and save no bytes.
CUSZI_HD constexpr std::uint64_t cell_fit_points(std::uint64_t points_of_frame) {
  return points_of_frame < 1U << 20 ? most_cell_fit_points / 4 : most_cell_fit_points;
}
inline constexpr std::size_t cell_fit_lanes = 256;  ///< partial sums
inline constexpr std::uint32_t fewest_cell_fit_points = 40;
inline constexpr int cell_fit_rounds = 6;

/// The points of a class in a level, and which of them a fit looks at.
struct CellFitSample {
  Extents3 points{};  ///< along each axis
  Extents3 steps{};
  Extents3 shifts{};  ///< of the first point
  std::uint64_t count = 0;
  int spacing;
  int odd;

  template <class Shape>
  CUSZI_HD CellFitSample(Shape /*shape*/, const Extents3& extents, int level_spacing, int of_class)
      : spacing(level_spacing), odd(of_class) {
    for (int axis = 0; axis < axis_count; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      steps[a] = Shape::has(axis) ? static_cast<std::uint64_t>(2 * spacing) : 1;
      shifts[a] = (odd >> axis & 1) != 0 ? steps[a] / 2 : 0;
      points[a] = extents[a] > shifts[a] ? (extents[a] - shifts[a] + steps[a] - 1) / steps[a] : 0;
    }
    const std::uint64_t all = count_of(points);
    const std::uint64_t most = cell_fit_points(count_of(extents));
    count = all < most ? all : most;
  }
  /// The coordinates of the k-th sampled point.
  CUSZI_HD Extents3 at(std::uint64_t k) const {
    const std::uint64_t all = count_of(points);
    Extents3 at = coordinates_of(sampled_point(k, count, all), points);
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      at[axis] = at[axis] * steps[axis] + shifts[axis];
    return at;
  }
};

/// The values around a sampled point that its prediction is made of. Each of the three parts takes
/// four: along an odd axis those at -3, -1, 1 and 3 spacings, or the diagonal ones.
template <class T>
struct CellPointValues {
  T own;
  T parts[3][4];
  LineNeighbours known[3];  ///< by part
  bool has_neighbours;      ///< none is missing above; else there are no values
};

/// Reads the values around a point of a class of two or three odd axes. None depends on another, so
/// that a device waits for memory once. `value_at(z, y, x)` is a value.
template <class T, class Shape, class ValueAt>
CUSZI_HD inline CellPointValues<T> read_cell_point(const Extents3& extents, int spacing, int odd,
                                                   const Extents3& point, const ValueAt& value_at) {
  CellPointValues<T> values{};
  const bool has_diagonals = order_of(odd) == 2;
  const int slow = (odd & 1) != 0 ? 0 : 1;
  const int fast = (odd & 4) != 0 ? 2 : 1;
  const int axes[3] = {slow, has_diagonals ? fast : 1, fast};  // of parts
  values.has_neighbours = true;
  CUSZI_UNROLL
  for (int part = 0; part < 3; ++part) {
    const auto a = static_cast<std::size_t>(axes[part]);
    const std::uint64_t first = point[a] / Shape::tile * Shape::tile;
    const std::uint64_t behind = extents[a] - 1 - first;
    const int last = behind < Shape::tile ? static_cast<int>(behind) : Shape::tile;
    const int k = static_cast<int>(point[a] - first) / (2 * spacing);
    values.known[part] = LineNeighbours::of(k, last / (2 * spacing));
    values.has_neighbours = values.has_neighbours && values.known[part].right;
  }
  if (!values.has_neighbours) return values;
  const auto read = [&](int axis_a, int by_a, int axis_b, int by_b) {
    Extents3 at = point;
    for (int axis = 0; axis < axis_count; ++axis) {
      const int by = (axis == axis_a ? by_a : 0) + (axis == axis_b ? by_b : 0);
      at[static_cast<std::size_t>(axis)] += static_cast<std::uint64_t>(std::int64_t{by} * spacing);
    }
    return value_at(at[0], at[1], at[2]);
  };
  values.own = value_at(point[0], point[1], point[2]);
  CUSZI_UNROLL
  for (int part = 0; part < 3; ++part) {
    const bool is_diagonal = part == 2 && has_diagonals;
    CUSZI_UNROLL
    for (int i = 0; i < 4; ++i) {
      const bool exists = is_diagonal || ((i != 0 || values.known[part].far_left) &&
                                          (i != 3 || values.known[part].far_right));
      const int along = exists ? 2 * i - 3 : -1;
      const int side_a = (i & 1) != 0 ? 1 : -1;
      const int side_b = (i & 2) != 0 ? 1 : -1;
      values.parts[part][i] =
          is_diagonal ? read(slow, side_a, fast, side_b) : read(axes[part], along, axes[part], 0);
    }
  }
  return values;
}

/// A sampled point: what its value, and the parts of its prediction but the first, have more than
/// the first. Not used where neighbours are missing or do not exist.
struct CellObservation {
  double target = 0;
  double second = 0;
  double third = 0;
  bool is_used = false;
};

/// Observes a point by the values around it, of which missing ones are NaN.
template <class T>
CUSZI_HD inline CellObservation observe_cell_point(const CellPointValues<T>& values, int odd) {
  if (!values.has_neighbours) return {};
  double parts[3];
  CUSZI_UNROLL
  for (int part = 0; part < 3; ++part) {
    const auto number = [&](int i) { return static_cast<double>(values.parts[part][i]); };
    parts[part] =
        part == 2 && order_of(odd) == 2
            ? diagonal_mean<double>(number(0), number(1), number(2), number(3))
            : spline_value(values.known[part], number(0), number(1), number(2), number(3));
  }
  const double target = static_cast<double>(values.own) - parts[0];
  const CellObservation observed{target, parts[1] - parts[0], parts[2] - parts[0], true};
  const double sum = observed.target + observed.second + observed.third;
  return sum - sum == 0 ? observed : CellObservation{};  // some value is not finite
}

/// The normal equations, as sums over observations.
struct CellFitSums {
  double second_second = 0;
  double second_third = 0;
  double third_third = 0;
  double second_target = 0;
  double third_target = 0;

  /// Calls f(sum) for all sums.
  template <class F>
  CUSZI_HD void for_each(const F& f) {
    f(second_second);
    f(second_third);
    f(third_third);
    f(second_target);
    f(third_target);
  }
  CUSZI_HD CellFitSums& operator+=(const CellFitSums& other) {
    second_second += other.second_second;
    second_third += other.second_third;
    third_third += other.third_third;
    second_target += other.second_target;
    third_target += other.third_target;
    return *this;
  }
};

/// The shares of a class but the first, between rounds.
struct CellShares {
  double second;
  double third;

  CUSZI_HD static CellShares initial(int odd) {
    if (order_of(odd) == 3) return {1.0 / 3, 1.0 / 3};
    return {0.5, 0};
  }

  CUSZI_HD CoarseWeights rounded(int odd) const {
    const double limit = most_weight;
    const double w1 = second * weight_one;
    const double w2 = third * weight_one;
    if (!(magnitude_of(w1) <= limit && magnitude_of(w2) <= limit)) return equal_weights(odd);
    const CoarseWeights weights{static_cast<std::int16_t>(nearest_integer(w1)),
                                static_cast<std::int16_t>(nearest_integer(w2))};
    return weights.is_valid() ? weights : equal_weights(odd);
  }
};

/// Adds an observation, given the shares of the round before and the half step of the level.
CUSZI_HD inline void add_observation(const CellObservation& seen, const CellShares& shares,
                                     double half_step, int odd, CellFitSums& sums) {
  if (!seen.is_used) return;
  const double residual = (seen.target - shares.second * seen.second) - shares.third * seen.third;
  const double bound = half_step * half_step;
  const double squared = residual * residual;
  const double weight = 1 / (squared + 2 * bound);
  const double most_noise = bound * 0.1;
  const double noise = squared * 16 < most_noise ? squared * 16 : most_noise;
  const double of_spline = noise / 1.56;  // what is left of it in a mean of neighbours
  const double of_third = order_of(odd) == 2 ? noise * 0.25 : of_spline;
  sums.second_second += weight * (seen.second * seen.second + (of_spline + of_spline));
  sums.second_third += weight * (seen.second * seen.third + of_spline);
  sums.third_third += weight * (seen.third * seen.third + (of_spline + of_third));
  sums.second_target += weight * (seen.second * seen.target + of_spline);
  sums.third_target += weight * (seen.third * seen.target + of_spline);
}

/// Solves the equations; false, and nothing changed, where they do not tell.
CUSZI_HD inline bool solve_shares(const CellFitSums& a, CellShares& shares) {
  const double determinant = a.second_second * a.third_third - a.second_third * a.second_third;
  if (!(determinant > 1e-12 * (a.second_second * a.third_third))) return false;
  const CellShares found{
      (a.second_target * a.third_third - a.third_target * a.second_third) / determinant,
      (a.third_target * a.second_second - a.second_target * a.second_third) / determinant};
  const double sum = found.second + found.third;
  if (!(sum - sum == 0)) return false;
  shares = found;
  return true;
}

/// The weights of a class by its observations. Observation k belongs to partial sum
/// k % cell_fit_lanes, which one thread of a device computes.
template <class Observations>
inline CoarseWeights fit_weights(const Observations& observations, double half_step, int odd) {
  std::uint32_t used = 0;
  for (const CellObservation& seen : observations) used += seen.is_used ? 1U : 0U;
  if (used < fewest_cell_fit_points) return equal_weights(odd);
  CellShares shares = CellShares::initial(odd);
  for (int round = 0; round < cell_fit_rounds; ++round) {
    std::array<CellFitSums, cell_fit_lanes> lanes{};
    for (std::size_t k = 0; k < observations.size(); ++k)
      add_observation(observations[k], shares, half_step, odd, lanes[k % cell_fit_lanes]);
    if (!solve_shares(tree_sum(lanes), shares)) break;
  }
  return shares.rounded(odd);
}

}  // namespace cuszi

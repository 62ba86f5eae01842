#include "core/cells/slices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/cost.hpp"
#include "core/cells/weights.hpp"

namespace cuszi {

namespace {

constexpr int coarsest_spacing = CellShape<2>::half;
constexpr int neighbours = 4;
constexpr int distances[neighbours] = {-3, -1, 1, 3};  ///< in spacings
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// A sampled point: its coordinates are odd multiples of the spacing, where an axis has such.
struct SampledPoint {
  Extents3 at;
  double value = missing;
  double beside[axis_count][neighbours] = {};  ///< 0 outside the frame
};

std::vector<SampledPoint> sample_of(const Extents3& extents, int spacing) {
  constexpr std::uint64_t most = 512;
  const auto unit = static_cast<std::uint64_t>(spacing);
  Extents3 odd_multiples;
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    odd_multiples[axis] = std::max<std::uint64_t>((extents[axis] + unit - 1) / (2 * unit), 1);
  const std::uint64_t count = std::min(std::max(most / unit, most / 4), count_of(odd_multiples));
  std::vector<SampledPoint> points(count);
  for (std::uint64_t k = 0; k < count; ++k) {
    points[k].at = coordinates_of(sampled_point(k, count, count_of(odd_multiples)), odd_multiples);
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      points[k].at[axis] = extents[axis] > unit ? (2 * points[k].at[axis] + 1) * unit : 0;
  }
  return points;
}

/// Calls f(point, value) for all values of a sample that lie in the frame.
template <class F>
void for_each_value(const Extents3& extents, int spacing, std::vector<SampledPoint>& sample,
                    const F& f) {
  for (SampledPoint& point : sample) {
    f(point_at(point.at, extents), point.value);
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      for (std::size_t i = 0; i < neighbours; ++i) {
        Extents3 at = point.at;
        at[axis] += static_cast<std::uint64_t>(std::int64_t{distances[i]} * spacing);
        if (at[axis] < extents[axis]) f(point_at(at, extents), point.beside[axis][i]);
      }
  }
}

/// How far a point is from its spline along an axis of its cell.
struct SplineError {
  double error = missing;
  bool has_right = false;
};
template <class Shape>
SplineError spline_error(const Extents3& extents, int spacing, const SampledPoint& point,
                         std::size_t axis) {
  const auto side = static_cast<std::uint64_t>(Shape::tile);
  const std::uint64_t first = point.at[axis] / side * side;
  const auto last = static_cast<int>(std::min(side, extents[axis] - 1 - first));
  const int k = static_cast<int>(point.at[axis] - first) / (2 * spacing);
  const auto known = LineNeighbours::of(k, last / (2 * spacing));
  const auto& [far_left, left, right, far_right] = point.beside[axis];
  const double predicted =
      spline_value(known, known.far_left ? far_left : left, left, known.right ? right : left,
                   known.far_right ? far_right : left);
  return {point.value - predicted, known.right};
}

/// About what an error costs in bits: nothing below the half step, then its logarithm.
double cost_of(double error, double half_step) {
  constexpr double unit = 16;
  constexpr double most = 1 << 26;
  const auto size =
      static_cast<std::uint64_t>(std::min(magnitude_of(error) / half_step * unit, most));
  const auto one = static_cast<std::uint64_t>(unit * unit);
  const auto bits = static_cast<double>(log2_of(one + size * size) - log2_of(one));
  return bits / (2 << cost_bits);
}

/// The cost of a level: errors of splines are weighed by the inverse of their mean square.
template <class Shape>
double cost_of_level(const SliceCandidate& frame, int spacing,
                     std::span<const SampledPoint> sample) {
  std::vector<std::array<double, axis_count>> errors(sample.size());
  double weights[axis_count] = {};
  for (std::size_t i = 0; i < sample.size(); ++i) {
    for (std::size_t axis = 0; axis < axis_count; ++axis) {
      const SplineError of_axis = spline_error<Shape>(frame.extents, spacing, sample[i], axis);
      errors[i][axis] = of_axis.error;
      if (!of_axis.has_right || !std::isfinite(of_axis.error)) continue;
      const double squared = of_axis.error * of_axis.error;
      weights[axis] += 1 / (squared + frame.half_step * frame.half_step / 4);
    }
  }
  double cost = 0;
  for (int number = 0; number < Shape::classes; ++number) {
    const int odd = Shape::odd_of(number);
    double sum = 0;
    std::uint64_t seen = 0;
    for (const auto& of_point : errors) {
      double error = 0;
      double weight = 0;
      for (std::size_t axis = 0; axis < axis_count; ++axis) {
        if ((static_cast<unsigned>(odd) >> axis & 1) == 0) continue;
        const double own = weights[axis] > 0 ? weights[axis] : 1;
        error += own * of_point[axis];
        weight += own;
      }
      if (!std::isfinite(error)) continue;
      sum += cost_of(error / weight, frame.half_step);
      ++seen;
    }
    const CellFitSample points(Shape{}, frame.extents, spacing, odd);
    if (seen != 0)
      cost += sum / static_cast<double>(seen) * static_cast<double>(count_of(points.points));
  }
  return cost;
}

template <class Shape>
double cost_of_tiles(const SliceCandidate& frame,
                     const std::vector<std::vector<SampledPoint>>& samples) {
  constexpr double bits_of_anchor = 10;
  double cost = bits_of_anchor * static_cast<double>(CellGrid::of<Shape>(frame.extents).count());
  for (std::size_t level = 0; level < Shape::levels; ++level)
    cost += cost_of_level<Shape>(frame, 1 << level, samples[level]);
  return cost;
}

/// Whether a frame of three axes is cut into cubes without a look at a sample.
bool is_cube_unseen(const Extents3& extents) {
  constexpr std::uint64_t large = 1 << 22;
  const bool is_cube = extents[0] == extents[1] && extents[1] == extents[2];
  const bool is_thick = 2 * extents[0] > std::min(extents[1], extents[2]);
  return is_cube || (is_thick && count_of(extents) >= large);
}

/// The samples of all spacings.
std::vector<std::vector<SampledPoint>> samples_of(const Extents3& extents) {
  std::vector<std::vector<SampledPoint>> samples;
  for (int spacing = 1; spacing <= coarsest_spacing; spacing *= 2)
    samples.push_back(sample_of(extents, spacing));
  return samples;
}

}  // namespace

std::vector<std::uint64_t> points_for_tile_rank(const Extents3& extents) {
  std::vector<std::uint64_t> points;
  if (rank_of(extents) != 3 || is_cube_unseen(extents)) return points;
  int spacing = 1;
  for (std::vector<SampledPoint>& sample : samples_of(extents)) {
    for_each_value(extents, spacing, sample,
                   [&](std::uint64_t point, double&) { points.push_back(point); });
    spacing *= 2;
  }
  return points;
}

int choose_tile_rank(const SliceCandidate& frame, std::span<const double> values) {
  auto samples = samples_of(frame.extents);
  auto next = values.begin();
  for (std::size_t level = 0; level < samples.size(); ++level)
    for_each_value(frame.extents, 1 << level, samples[level], [&](std::uint64_t, double& value) {
      value = *next >= frame.min && *next <= frame.max ? *next : missing;
      ++next;
    });
  // Slices have to be clearly better: the estimate does not see what the three axes of cubes have
  // in common.
  return cost_of_tiles<CellShape<2>>(frame, samples) * 5 <
                 cost_of_tiles<CellShape<3>>(frame, samples) * 4
             ? 2
             : 3;
}

}  // namespace cuszi

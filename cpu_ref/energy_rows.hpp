#pragma once

#include <cmath>
#include <limits>

#include "core/energy.hpp"
#include "cpu_ref/lattice_rows.hpp"

namespace cuszi::cpu {

/// What an estimate is made from: values and magnitudes of quant-codes, so far as they are known.
template <class T>
struct Known {
  const T* values;
  const std::uint8_t* magnitudes;
};

/// root_feature() of every slope.
inline constexpr auto root_features = [] {
  std::array<std::uint8_t, max_slope + 1> roots{};
  for (std::int32_t slope = 0; slope <= max_slope; ++slope) {
    roots[static_cast<std::size_t>(slope)] = static_cast<std::uint8_t>(root_feature(slope));
  }
  return roots;
}();

/// Estimates the energy of the points of one class row by row; the sums are those of core's
/// features_of().
template <class T>
class RowEnergy {
 public:
  /// Keeps references.
  RowEnergy(const Grid& grid, const ClassPlan<T>& plan)
      : grid_(grid), plan_(plan), points_(plan.points) {}

  EnergyFeatures features(const Known<T>& known, const Row& row, std::size_t k) const {
    const PointAt<const T*> p = point_of(grid_, points_, row, known.values, k);
    return features_of(plan_, p, known.magnitudes + (p.value - known.values));
  }

  /// The weighted sums of a row's features.
  void estimate(const Known<T>& known, const Row& row, const EnergyWeights& weights,
                std::int32_t* out) const {
    const Inner inner = inner_part(row, points_, grid_, plan_.energy_margins);
    for (std::size_t k = 0; k < inner.begin; ++k) {
      out[k] = weighted_sum(weights, features(known, row, k));
    }
    for (std::size_t k = inner.end; k < row.count; ++k) {
      out[k] = weighted_sum(weights, features(known, row, k));
    }
    if (inner.begin == inner.end) return;
    std::int32_t* const to = out + inner.begin;
    const std::size_t count = inner.end - inner.begin;
    const std::uint64_t first = row.offset + inner.begin * points_.step[3];
    std::fill_n(to, count, weights[constant] * energy_one);
    with_step(points_.step[3], [&](auto step) {
      add_magnitudes(
          known.magnitudes + first,
          inner.complete ? plan_.energy_offsets : mirrored_offsets(known.magnitudes, row, inner),
          weights, to, count, step);
      if (!uses_slopes(weights)) return;
      if (inner.complete) {
        add_row_slopes(known.values + first, weights, to, count, step);
      } else {
        add_border_slopes(known.values, row, inner, weights, out);
      }
    });
  }

 private:
  using Offsets = std::array<std::int64_t, EnergyTaps::most_taps>;

  bool uses_slopes(const EnergyWeights& weights) const {
    return points_.order != 0 && (weights[gradient] != 0 || weights[roughness] != 0 ||
                                  weights[gradient_root] != 0 || weights[slice_error] != 0);
  }

  /// The distances of taps in a row that lacks some: of those that stand in for them.
  Offsets mirrored_offsets(const std::uint8_t* magnitudes, const Row& row,
                           const Inner& inner) const {
    const auto p = point_of(grid_, points_, row, magnitudes, inner.begin);
    Offsets offsets{};
    std::size_t i = 0;
    for (const Tap& tap : plan_.energy.all()) offsets[i++] = near_part(p, tap) - p.value;
    return offsets;
  }

  void add_border_slopes(const T* values, const Row& row, const Inner& inner,
                         const EnergyWeights& weights, std::int32_t* out) const {
    std::size_t k = inner.begin;
    const auto add = [&](const Slopes<T>& slopes) {
      EnergyFeatures f{};
      add_slopes(plan_, slopes, f);
      out[k++] += weighted_sum(weights, f);
    };
    while (k + Pack<T>::size <= inner.end) {
      const Slopes<Pack<T>> pack = slopes_of(plan_, pack_of(grid_, points_, row, values, k));
      for (std::size_t i = 0; i < Pack<T>::size; ++i) {
        add({pack.slope.lanes[i], pack.bend.lanes[i], pack.spread.lanes[i], pack.errors.lanes[i]});
      }
    }
    while (k < inner.end) add(slopes_of(plan_, point_of(grid_, points_, row, values, k)));
  }

  template <class Step>
  void add_magnitudes(const std::uint8_t* first, const Offsets& offsets,
                      const EnergyWeights& weights, std::int32_t* out, std::size_t count,
                      Step step) const {
    // The points between those of a fine row are summed up too: adjacent bytes take fewer
    // instructions than every second one.
    constexpr std::ptrdiff_t finest = 2;
    const bool dense = step <= finest;
    const std::ptrdiff_t stride = dense ? 1 : static_cast<std::ptrdiff_t>(step);
    const std::ptrdiff_t spread = dense ? static_cast<std::ptrdiff_t>(step) : 1;
    const auto n = static_cast<std::ptrdiff_t>(count);
    const std::ptrdiff_t all = (n - 1) * spread + 1;
    std::uint16_t sums[finest * row_points];
    for (unsigned g = 0; g < plan_.energy.size; ++g) {
      const std::int32_t weight = weights[direct + g];
      if (weight == 0 || plan_.energy.taps_of(g) == 0) continue;
      std::fill_n(sums, all, std::uint16_t{0});
      for (unsigned i = plan_.energy.begin(g); i < plan_.energy.end(g); ++i) {
        const std::uint8_t* const at = first + offsets[i];
#pragma omp simd
        for (std::ptrdiff_t j = 0; j < all; ++j) {
          sums[j] = static_cast<std::uint16_t>(sums[j] + at[j * stride]);
        }
      }
#pragma omp simd
      for (std::ptrdiff_t k = 0; k < n; ++k) out[k] += weight * sums[k * spread];
    }
  }

  template <class Step>
  void add_row_slopes(const T* first, const EnergyWeights& weights, std::int32_t* out,
                      std::size_t count, Step step) const {
    T slope[row_points];
    T bend[row_points];
    T low[row_points];
    T high[row_points];
    T errors[row_points];
    const auto n = static_cast<std::ptrdiff_t>(count);
    std::fill_n(slope, count, T{0});
    std::fill_n(bend, count, T{0});
    std::fill_n(low, count, std::numeric_limits<T>::max());
    std::fill_n(high, count, std::numeric_limits<T>::lowest());
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (!points_.is_odd(axis)) continue;
      const std::ptrdiff_t unit = stride_of(grid_, points_, axis);
      const T* const left = first - unit;
      const T* const right = first + unit;
      const T* const far_left = left - 2 * unit;
      const T* const far_right = right + 2 * unit;
#pragma omp simd
      for (std::ptrdiff_t k = 0; k < n; ++k) {
        const T near = left[k * step] + right[k * step];
        const T far = far_left[k * step] + far_right[k * step];
        slope[k] += std::fabs(right[k * step] - left[k * step]);
        bend[k] += std::fabs(near - far);
        const T spline = spline_from(near, far);
        low[k] = spline < low[k] ? spline : low[k];
        high[k] = spline > high[k] ? spline : high[k];
      }
    }
    add_slice_errors(first, errors, count, step);
    std::int32_t gradients[row_points];
#pragma omp simd
    for (std::size_t k = 0; k < count; ++k) {
      gradients[k] = slope_feature(slope[k] * plan_.slope_scale);
      const std::int32_t r =
          slope_feature(bend[k] * plan_.slope_scale + (high[k] - low[k]) * plan_.spread_scale);
      out[k] += weights[gradient] * gradients[k] + weights[roughness] * r +
                weights[slice_error] * slope_feature(errors[k] * plan_.slice_scale);
    }
    if (weights[gradient_root] == 0) return;
    for (std::size_t k = 0; k < count; ++k) {
      out[k] += weights[gradient_root] * root_features[static_cast<std::size_t>(gradients[k])];
    }
  }

  template <class Step>
  void add_slice_errors(const T* first, T* errors, std::size_t count, Step step) const {
    std::fill_n(errors, count, T{0});
    const auto n = static_cast<std::ptrdiff_t>(count);
    constexpr unsigned slices = same_point - direct;
    for (unsigned i = plan_.energy.begin(slices); i < plan_.energy.end(slices); ++i) {
      const T* const at = first + plan_.energy_offsets[i];
      T sums[row_points];
      std::fill_n(sums, count, T{0});
      for (unsigned axis = 0; axis < max_axes; ++axis) {
        if (!points_.is_odd(axis)) continue;
        const std::ptrdiff_t unit = stride_of(grid_, points_, axis);
        const T* const left = at - unit;
        const T* const right = at + unit;
#pragma omp simd
        for (std::ptrdiff_t k = 0; k < n; ++k) sums[k] += left[k * step] + right[k * step];
      }
      const T share = plan_.near_share;
#pragma omp simd
      for (std::ptrdiff_t k = 0; k < n; ++k) errors[k] += std::fabs(at[k * step] - sums[k] * share);
    }
  }

  const Grid& grid_;
  const ClassPlan<T>& plan_;
  const PointClass& points_;
};

}  // namespace cuszi::cpu

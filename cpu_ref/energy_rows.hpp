#pragma once

#include <cmath>
#include <limits>

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

/// Estimates the energy of the points of one class: row by row, or all features of one point.
template <class T>
class RowEnergy {
 public:
  RowEnergy(const MultilevelParams& params, const Grid& grid, const PointClass& points)
      : grid_(grid), points_(points) {
    const EnergyTaps taps = energy_taps(params, points);
    sums_ = {taps.direct, taps.diagonal, taps.parent, taps.same_point, taps.slices};
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (points.is_odd(axis)) odd_.push_back(axis);
    }
    if (points.enclosed) slices_ = taps.same_point;
    const double bound = params.half_step_of(points.level);
    const double axes = odd_.empty() ? 1 : static_cast<double>(odd_.size());
    slope_scale_ = static_cast<T>(energy_one / (bound * axes));
    spread_scale_ = static_cast<T>(2 * energy_one / bound);
    std::vector<TapGroup> all;
    for (const TapGroup& group : sums_) {
      if (!group.empty()) all.push_back(group);
      offsets_.push_back(offsets_of(group, grid, points));
    }
    for (const unsigned axis : odd_) all.push_back({far_tap(axis)});
    margins_ = margins_of(points, all);
  }

  EnergyFeatures features(const Known<T>& known, const Row& row, std::size_t k) const {
    const PointAt<std::uint8_t> magnitude = point_of(grid_, points_, row, known.magnitudes, k);
    EnergyFeatures f{};
    f[constant] = energy_one;
    for (unsigned i = 0; i < sums_.size(); ++i) {
      for (const Tap& tap : sums_[i]) f[direct + i] += *near_part(magnitude, tap);
    }
    if (odd_.empty()) return f;
    add_slopes(point_of(grid_, points_, row, known.values, k), f);
    return f;
  }

  /// The weighted sums of a row's features.
  void estimate(const Known<T>& known, const Row& row, const EnergyWeights& weights,
                std::int32_t* out) const {
    const Inner inner = inner_part(row, points_, grid_, margins_);
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
      add_magnitudes(known.magnitudes + first, weights, to, count, step);
      const bool slopes = weights[gradient] != 0 || weights[roughness] != 0 ||
                          weights[gradient_root] != 0 || weights[slice_error] != 0;
      if (slopes && !odd_.empty()) add_row_slopes(known.values + first, weights, to, count, step);
    });
  }

 private:
  Tap far_tap(unsigned axis) const {
    Tap tap{};
    tap[axis] = 3;
    return tap;
  }

  /// How far the mean of the near neighbours is from the value in an enclosing slice.
  T error_in_slice(const PointAt<T>& p, const Tap& slice) const {
    T sum = 0;
    for (const unsigned axis : odd_) {
      Tap left = slice;
      Tap right = slice;
      left[axis] = -1;
      right[axis] = 1;
      sum += tap_value(p, left) + tap_value(p, right);
    }
    return std::fabs(tap_value(p, slice) - sum * near_share());
  }

  T near_share() const { return static_cast<T>(0.5) / static_cast<T>(odd_.size()); }

  void add_slopes(const PointAt<T>& p, EnergyFeatures& f) const {
    T slope = 0;
    T bend = 0;
    T low = std::numeric_limits<T>::max();
    T high = std::numeric_limits<T>::lowest();
    for (const unsigned axis : odd_) {
      const T left = near_value(p, axis, p.value, -1);
      const T right = near_value(p, axis, p.value, 1);
      const T near = left + right;
      const T far = far_value(p, axis, p.value, -3) + far_value(p, axis, p.value, 3);
      slope += std::fabs(right - left);
      bend += std::fabs(near - far);
      const T spline = spline_from(near, far);
      low = spline < low ? spline : low;
      high = spline > high ? spline : high;
    }
    T errors = 0;
    for (const Tap& slice : slices_) errors += error_in_slice(p, slice);
    f[gradient] = slope_feature(slope * slope_scale_);
    f[roughness] = slope_feature(bend * slope_scale_ + (high - low) * spread_scale_);
    f[gradient_root] = root_feature(f[gradient]);
    f[slice_error] = slope_feature(errors * (spread_scale_ * static_cast<T>(0.25)));
  }

  template <class Step>
  void add_magnitudes(const std::uint8_t* first, const EnergyWeights& weights, std::int32_t* out,
                      std::size_t count, Step step) const {
    std::uint16_t sums[row_points];
    const auto n = static_cast<std::ptrdiff_t>(count);
    for (unsigned i = 0; i < offsets_.size(); ++i) {
      const std::int32_t weight = weights[direct + i];
      if (weight == 0 || offsets_[i].empty()) continue;
      std::fill_n(sums, count, std::uint16_t{0});
      for (const std::ptrdiff_t offset : offsets_[i]) {
        const std::uint8_t* const at = first + offset;
        for (std::ptrdiff_t k = 0; k < n; ++k) {
          sums[k] = static_cast<std::uint16_t>(sums[k] + at[k * step]);
        }
      }
      for (std::size_t k = 0; k < count; ++k) out[k] += weight * sums[k];
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
    for (const unsigned axis : odd_) {
      const std::ptrdiff_t unit = stride_of(grid_, points_, axis);
      for (std::ptrdiff_t k = 0; k < n; ++k) {
        const T* const at = first + k * step;
        const T near = at[-unit] + at[unit];
        const T far = at[-3 * unit] + at[3 * unit];
        slope[k] += std::fabs(at[unit] - at[-unit]);
        bend[k] += std::fabs(near - far);
        const T spline = spline_from(near, far);
        low[k] = spline < low[k] ? spline : low[k];
        high[k] = spline > high[k] ? spline : high[k];
      }
    }
    add_slice_errors(first, errors, count, step);
    const T slice_scale = spread_scale_ * static_cast<T>(0.25);
    for (std::size_t k = 0; k < count; ++k) {
      const std::int32_t g = slope_feature(slope[k] * slope_scale_);
      const std::int32_t r =
          slope_feature(bend[k] * slope_scale_ + (high[k] - low[k]) * spread_scale_);
      out[k] += weights[gradient] * g + weights[roughness] * r +
                weights[gradient_root] * root_features[static_cast<std::size_t>(g)] +
                weights[slice_error] * slope_feature(errors[k] * slice_scale);
    }
  }

  template <class Step>
  void add_slice_errors(const T* first, T* errors, std::size_t count, Step step) const {
    std::fill_n(errors, count, T{0});
    const auto n = static_cast<std::ptrdiff_t>(count);
    for (const std::ptrdiff_t slice :
         slices_.empty() ? std::vector<std::ptrdiff_t>{} : offsets_[same_point - direct]) {
      for (std::ptrdiff_t k = 0; k < n; ++k) {
        const T* const at = first + slice + k * step;
        T sum = 0;
        for (const unsigned axis : odd_) {
          const std::ptrdiff_t unit = stride_of(grid_, points_, axis);
          sum += at[-unit] + at[unit];
        }
        errors[k] += std::fabs(*at - sum * near_share());
      }
    }
  }

  const Grid& grid_;
  const PointClass& points_;
  std::vector<TapGroup> sums_;
  std::vector<std::vector<std::ptrdiff_t>> offsets_;
  std::vector<unsigned> odd_;
  TapGroup slices_;
  T slope_scale_;
  T spread_scale_;
  Index4 margins_{};
};

}  // namespace cuszi::cpu

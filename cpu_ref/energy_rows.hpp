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
    const PointAt<const std::uint8_t*> magnitude =
        point_of(grid_, points_, row, known.magnitudes, k);
    EnergyFeatures f{};
    f[constant] = energy_one;
    for (unsigned i = 0; i < sums_.size(); ++i) {
      for (const Tap& tap : sums_[i]) f[direct + i] += *near_part(magnitude, tap);
    }
    if (odd_.empty()) return f;
    add_slopes(slopes_of(point_of(grid_, points_, row, known.values, k)), f);
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
      add_magnitudes(known.magnitudes + first,
                     inner.complete ? offsets_ : mirrored_offsets(known.magnitudes, row, inner),
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
  Tap far_tap(unsigned axis) const {
    Tap tap{};
    tap[axis] = 3;
    return tap;
  }

  bool uses_slopes(const EnergyWeights& weights) const {
    return !odd_.empty() && (weights[gradient] != 0 || weights[roughness] != 0 ||
                             weights[gradient_root] != 0 || weights[slice_error] != 0);
  }

  /// What the features of slopes are made from, of a point or a pack of points.
  template <class V>
  struct Slopes {
    V slope;
    V bend;
    V spread;
    V errors;
  };

  /// How far the mean of the near neighbours is from the value in an enclosing slice.
  template <class Values>
  ValueAt<Values> error_in_slice(const PointAt<Values>& p, const Tap& slice) const {
    using std::fabs;
    ValueAt<Values> sum = 0;
    for (const unsigned axis : odd_) {
      Tap left = slice;
      Tap right = slice;
      left[axis] = -1;
      right[axis] = 1;
      sum += tap_value(p, left) + tap_value(p, right);
    }
    return fabs(tap_value(p, slice) - sum * near_share());
  }

  T near_share() const { return static_cast<T>(0.5) / static_cast<T>(odd_.size()); }

  template <class Values>
  Slopes<ValueAt<Values>> slopes_of(const PointAt<Values>& p) const {
    using std::fabs;
    using V = ValueAt<Values>;
    V slope = 0;
    V bend = 0;
    V low = std::numeric_limits<T>::max();
    V high = std::numeric_limits<T>::lowest();
    for (const unsigned axis : odd_) {
      const V left = near_value(p, axis, p.value, -1);
      const V right = near_value(p, axis, p.value, 1);
      const V near = left + right;
      const V far = far_value(p, axis, p.value, -3) + far_value(p, axis, p.value, 3);
      slope += fabs(right - left);
      bend += fabs(near - far);
      const V spline = spline_from(near, far);
      low = lower(spline, low);
      high = higher(spline, high);
    }
    V errors = 0;
    for (const Tap& slice : slices_) errors += error_in_slice(p, slice);
    return {slope, bend, high - low, errors};
  }

  void add_slopes(const Slopes<T>& s, EnergyFeatures& f) const {
    f[gradient] = slope_feature(s.slope * slope_scale_);
    f[roughness] = slope_feature(s.bend * slope_scale_ + s.spread * spread_scale_);
    f[gradient_root] = root_features[static_cast<std::size_t>(f[gradient])];
    f[slice_error] = slope_feature(s.errors * (spread_scale_ * static_cast<T>(0.25)));
  }

  /// The distances of taps in a row that lacks some: of those that stand in for them.
  std::vector<std::vector<std::ptrdiff_t>> mirrored_offsets(const std::uint8_t* magnitudes,
                                                            const Row& row,
                                                            const Inner& inner) const {
    const auto p = point_of(grid_, points_, row, magnitudes, inner.begin);
    std::vector<std::vector<std::ptrdiff_t>> offsets;
    for (const TapGroup& group : sums_) {
      offsets.emplace_back();
      for (const Tap& tap : group) offsets.back().push_back(near_part(p, tap) - p.value);
    }
    return offsets;
  }

  void add_border_slopes(const T* values, const Row& row, const Inner& inner,
                         const EnergyWeights& weights, std::int32_t* out) const {
    std::size_t k = inner.begin;
    const auto add = [&](const Slopes<T>& slopes) {
      EnergyFeatures f{};
      add_slopes(slopes, f);
      out[k++] += weighted_sum(weights, f);
    };
    while (k + Pack<T>::size <= inner.end) {
      const Slopes<Pack<T>> pack = slopes_of(pack_of(grid_, points_, row, values, k));
      for (std::size_t i = 0; i < Pack<T>::size; ++i) {
        add({pack.slope.lanes[i], pack.bend.lanes[i], pack.spread.lanes[i], pack.errors.lanes[i]});
      }
    }
    while (k < inner.end) add(slopes_of(point_of(grid_, points_, row, values, k)));
  }

  template <class Step>
  void add_magnitudes(const std::uint8_t* first,
                      const std::vector<std::vector<std::ptrdiff_t>>& offsets,
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
    for (unsigned i = 0; i < offsets.size(); ++i) {
      const std::int32_t weight = weights[direct + i];
      if (weight == 0 || offsets[i].empty()) continue;
      std::fill_n(sums, all, std::uint16_t{0});
      for (const std::ptrdiff_t offset : offsets[i]) {
        const std::uint8_t* const at = first + offset;
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
    for (const unsigned axis : odd_) {
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
    const T slice_scale = spread_scale_ * static_cast<T>(0.25);
    std::int32_t gradients[row_points];
#pragma omp simd
    for (std::size_t k = 0; k < count; ++k) {
      gradients[k] = slope_feature(slope[k] * slope_scale_);
      const std::int32_t r =
          slope_feature(bend[k] * slope_scale_ + (high[k] - low[k]) * spread_scale_);
      out[k] += weights[gradient] * gradients[k] + weights[roughness] * r +
                weights[slice_error] * slope_feature(errors[k] * slice_scale);
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
    for (const std::ptrdiff_t slice :
         slices_.empty() ? std::vector<std::ptrdiff_t>{} : offsets_[same_point - direct]) {
      const T* const at = first + slice;
      T sums[row_points];
      std::fill_n(sums, count, T{0});
      for (const unsigned axis : odd_) {
        const std::ptrdiff_t unit = stride_of(grid_, points_, axis);
        const T* const left = at - unit;
        const T* const right = at + unit;
#pragma omp simd
        for (std::ptrdiff_t k = 0; k < n; ++k) sums[k] += left[k * step] + right[k * step];
      }
      const T share = near_share();
#pragma omp simd
      for (std::ptrdiff_t k = 0; k < n; ++k) errors[k] += std::fabs(at[k * step] - sums[k] * share);
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

#pragma once

#include "core/multilevel/context.hpp"
#include "cpu_ref/multilevel/context_rows.hpp"
#include "cpu_ref/multilevel/neighbours.hpp"

namespace cuszi::cpu {

/// features_of() for points of a class, a pack at a time.
template <class T>
class PointFeatures {
 public:
  static constexpr std::size_t most_points = Pack<T>::size;

  struct Place {
    Index4 at;            ///< in the array
    std::uint64_t point;  ///< index in the array
  };

  /// Keeps references.
  PointFeatures(const Grid& grid, const ClassPlan<T>& plan)
      : grid_(grid), plan_(plan), points_(plan.points) {
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      strides_[axis] = stride_of(grid, points_, axis);
    }
    for (unsigned i = 0; i < plan.context_taps.all_taps(); ++i) {
      taps_[i] = Nearby::steps_of(plan.context_taps.taps[i]);
    }
  }

  void features(const Known<T>& known, std::span<const Place> places, Features* out) const {
    Nearby nearby[most_points];
    for (std::size_t k = 0; k < places.size(); ++k) {
      nearby[k] = Nearby(grid_, points_, strides_, places[k].at);
      out[k] = {};
      out[k][constant] = feature_one;
      add_magnitudes(known.magnitudes + places[k].point, nearby[k], out[k]);
    }
    if (points_.order != 0) add_slopes(known.values, places, nearby, out);
  }

 private:
  using Nearby = NearOffsets<1>;
  using TapSteps = Nearby::TapSteps;

  void add_magnitudes(const std::uint8_t* magnitude, const Nearby& nearby, Features& f) const {
    for (unsigned g = 0; g < plan_.context_taps.size; ++g) {
      std::int32_t sum = 0;
      for (unsigned i = plan_.context_taps.begin(g); i < plan_.context_taps.end(g); ++i) {
        sum += magnitude[nearby(taps_[i])];
      }
      f[direct + g] = sum;
    }
  }

  void add_slopes(const T* values, std::span<const Place> places, const Nearby* nearby,
                  Features* out) const {
    SlopeSums<T, Pack<T>> sums;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (!points_.is_odd(axis)) continue;
      T left[most_points] = {};
      T right[most_points] = {};
      T far[most_points] = {};
      for (std::size_t k = 0; k < places.size(); ++k) {
        const T* const value = values + places[k].point;
        left[k] = value[nearby[k].along(axis, -1)];
        right[k] = value[nearby[k].along(axis, 1)];
        far[k] = far_sum(axis, places[k], value);
      }
      sums.add(Pack<T>::load(left), Pack<T>::load(right), Pack<T>::load(far));
    }
    put_slopes(sums.slopes(), places.size(), out);
  }

  /// Values at -3 and 3.
  T far_sum(unsigned axis, const Place& place, const T* value) const {
    const std::uint64_t distance = 3 * points_.unit[axis];
    if (place.at[axis] >= distance && place.at[axis] + distance < grid_.extents[axis]) {
      return value[-3 * strides_[axis]] + value[3 * strides_[axis]];
    }
    const PointAt<const T*> p{grid_, points_, place.at, value};
    return far_value(p, axis, value, -3) + far_value(p, axis, value, 3);
  }

  void put_slopes(const Slopes<Pack<T>>& s, std::size_t count, Features* out) const {
    std::int32_t gradients[most_points];
    std::int32_t roughnesses[most_points];
    slope_features(s.slope * plan_.slope_scale, gradients);
    slope_features(s.curvature * plan_.slope_scale + s.spread * plan_.spread_scale, roughnesses);
    for (std::size_t k = 0; k < count; ++k) {
      out[k][gradient] = gradients[k];
      out[k][roughness] = roughnesses[k];
      out[k][gradient_root] = root_features[static_cast<std::size_t>(gradients[k])];
    }
  }

  const Grid& grid_;
  const ClassPlan<T>& plan_;
  const PointClass& points_;
  std::array<std::int64_t, max_axes> strides_{};
  std::array<TapSteps, ContextTaps::most_taps> taps_{};
};

}  // namespace cuszi::cpu

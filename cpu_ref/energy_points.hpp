#pragma once

#include "core/energy.hpp"
#include "cpu_ref/energy_rows.hpp"
#include "cpu_ref/neighbours.hpp"

namespace cuszi::cpu {

/// core's features_of() any points of one class.
template <class T>
class PointEnergy {
 public:
  /// Keeps references.
  PointEnergy(const Grid& grid, const ClassPlan<T>& plan)
      : grid_(grid), plan_(plan), points_(plan.points) {
    for (unsigned i = 0; i < plan.energy.all_taps(); ++i) {
      steps_[i] = StepsOut::bits_of(plan.energy.taps[i]);
      all_steps_ |= steps_[i];
    }
  }

  /// Of the point at these coordinates, which is the `point`-th of the array.
  EnergyFeatures features(const Known<T>& known, const Index4& at, std::uint64_t point) const {
    const StepsOut out(grid_, points_, at);
    EnergyFeatures f{};
    f[constant] = energy_one;
    const std::uint8_t* const magnitude = known.magnitudes + point;
    if ((out.bits() & all_steps_) == 0) {
      add_magnitudes([&](unsigned i) { return magnitude[plan_.energy_offsets[i]]; }, f);
    } else {
      add_magnitudes([&](unsigned i) { return magnitude[offset_of_tap(i, out)]; }, f);
    }
    if (points_.order != 0) add_slopes(plan_, slopes(known.values + point, at, out), f);
    return f;
  }

 private:
  template <class MagnitudeOfTap>
  void add_magnitudes(const MagnitudeOfTap& of_tap, EnergyFeatures& f) const {
    for (unsigned g = 0; g < plan_.energy.size; ++g) {
      std::int32_t sum = 0;
      for (unsigned i = plan_.energy.begin(g); i < plan_.energy.end(g); ++i) sum += of_tap(i);
      f[direct + g] = sum;
    }
  }

  /// Where a tap reads: its mirror image where that is out of the array.
  std::int64_t offset_of_tap(unsigned i, const StepsOut& out) const {
    const std::int64_t offset = plan_.energy_offsets[i];
    if ((out.bits() & steps_[i]) == 0) return offset;
    return offset + mirroring(grid_, points_, plan_.energy.taps[i], out);
  }

  Slopes<T> slopes(const T* value, const Index4& at, const StepsOut& out) const {
    const PointAt<const T*> p{grid_, points_, at, value};
    SlopeSums<T> sums;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (!points_.is_odd(axis)) continue;
      const std::ptrdiff_t unit = stride_of(grid_, points_, axis);
      const T far = (out.has(axis, -3) ? far_value(p, axis, value, -3) : value[-3 * unit]) +
                    (out.has(axis, 3) ? far_value(p, axis, value, 3) : value[3 * unit]);
      sums.add(value[-unit], value[right_of(axis, unit, out)], far);
    }
    T errors = 0;
    constexpr unsigned slices = same_point - direct;
    for (unsigned i = plan_.energy.begin(slices); i < plan_.energy.end(slices); ++i) {
      errors += error_in_slice(value + offset_of_tap(i, out), out);
    }
    return sums.with(errors);
  }

  T error_in_slice(const T* value, const StepsOut& out) const {
    using std::fabs;
    T sum = 0;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (!points_.is_odd(axis)) continue;
      const std::ptrdiff_t unit = stride_of(grid_, points_, axis);
      sum += value[-unit] + value[right_of(axis, unit, out)];
    }
    return fabs(*value - sum * plan_.near_share);
  }

  /// The near neighbour along an odd axis; on the left there always is one.
  static std::ptrdiff_t right_of(unsigned axis, std::ptrdiff_t unit, const StepsOut& out) {
    return out.has(axis, 1) ? -unit : unit;
  }

  const Grid& grid_;
  const ClassPlan<T>& plan_;
  const PointClass& points_;
  std::array<std::uint64_t, EnergyTaps::most_taps> steps_{};
  std::uint64_t all_steps_ = 0;
};

}  // namespace cuszi::cpu

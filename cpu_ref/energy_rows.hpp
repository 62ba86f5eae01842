#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/energy.hpp"
#include "core/wide_vectors.hpp"
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

/// slope_feature() of scaled slopes.
template <class T>
void slope_features(const Pack<T>& scaled, std::int32_t* features) {
  T low[Pack<T>::size];
  lower(scaled, static_cast<T>(max_slope)).store(low);
  for (std::size_t i = 0; i < Pack<T>::size; ++i) features[i] = static_cast<std::int32_t>(low[i]);
}

/// Bytes behind the last magnitude that may be read, and are not looked at.
inline constexpr std::size_t magnitudes_room = 4;

/// Estimates the energy of the points of one class row by row; the sums are those of core's
/// features_of().
template <class T>
class RowEnergy {
 public:
  /// Keeps references.
  RowEnergy(const Grid& grid, const ClassPlan<T>& plan)
      : grid_(grid), plan_(plan), points_(plan.points) {}

  /// The weighted sums of a row's features.
  void estimate(const Known<T>& known, const Row& row, const EnergyWeights& weights,
                std::int32_t* out) const {
    const Inner inner = inner_part(row, points_, grid_, plan_.energy_margins);
    const Taps taps =
        inner.complete ? Taps(plan_.energy_offsets) : Taps(grid_, points_, row, plan_.energy);
    const auto at = [&](std::size_t k) { return of_point(known, row, weights, taps, k); };
    for (std::size_t k = 0; k < inner.begin; ++k) out[k] = at(k);
    for (std::size_t k = inner.end; k < row.count; ++k) out[k] = at(k);
    if (inner.begin == inner.end) return;
    const std::size_t count = inner.end - inner.begin;
    with_wide_vectors([&] {
      std::fill_n(out + inner.begin, count, weights[constant] * energy_one);
      add_magnitudes(known.magnitudes + row.offset + inner.begin * points_.step[3], taps, weights,
                     out + inner.begin, count);
    });
    if (uses_slopes(weights)) add_slopes_of_row(known.values, row, inner, weights, out);
  }

 private:
  using Taps = RowTaps<EnergyTaps>;

  bool uses_slopes(const EnergyWeights& weights) const {
    return points_.order != 0 && (weights[gradient] != 0 || weights[roughness] != 0 ||
                                  weights[gradient_root] != 0 || weights[slice_error] != 0);
  }

  /// The weighted sum of a point that may lack neighbours along its row.
  std::int32_t of_point(const Known<T>& known, const Row& row, const EnergyWeights& weights,
                        const Taps& taps, std::size_t k) const {
    const PointAt<const T*> p = point_of(grid_, points_, row, known.values, k);
    const std::uint8_t* const magnitude = known.magnitudes + (p.value - known.values);
    const std::int64_t stride = stride_of(grid_, points_, 3);
    EnergyFeatures f{};
    f[constant] = energy_one;
    for (unsigned g = 0; g < plan_.energy.size; ++g) {
      for (unsigned i = plan_.energy.begin(g); i < plan_.energy.end(g); ++i) {
        const auto units = int{plan_.energy.taps[i][3]};
        std::int64_t offset = taps.offsets[i];
        if (!is_inside(p, 3, units)) offset -= (is_inside(p, 3, -units) ? 2 : 1) * units * stride;
        f[direct + g] += magnitude[offset];
      }
    }
    if (uses_slopes(weights)) add_slopes(plan_, slopes_of(plan_, p), f);
    return weighted_sum(weights, f);
  }

  void add_magnitudes(const std::uint8_t* first, const Taps& taps, const EnergyWeights& weights,
                      std::int32_t* out, std::size_t count) const {
    std::int16_t sums[row_points];
    for (unsigned g = 0; g < plan_.energy.size; ++g) {
      const std::int16_t weight = weights[direct + g];
      if (weight == 0 || plan_.energy.taps_of(g) == 0) continue;
      sum_up(first, std::span(taps.offsets).subspan(plan_.energy.begin(g), plan_.energy.taps_of(g)),
             sums, count);
#pragma omp simd
      for (std::size_t k = 0; k < count; ++k) out[k] += weight * sums[k];
    }
  }

  /// The sums of a row's magnitudes at some distances.
  void sum_up(const std::uint8_t* first, std::span<const std::int64_t> offsets, std::int16_t* sums,
              std::size_t count) const {
    const std::uint64_t step = points_.step[3];
    if (step == 2 && count >= block_points) {
      for_each_block(count, [&](std::size_t k) {
        sum_block<std::uint16_t>(first + 2 * k, offsets, sums + k);
      });
    } else if (step == 4 && count >= block_points) {
      for_each_block(count, [&](std::size_t k) {
        sum_block<std::uint32_t>(first + 4 * k, offsets, sums + k);
      });
    } else {
      std::fill_n(sums, count, std::int16_t{0});
      for (const std::int64_t offset : offsets) {
        const std::uint8_t* const at = first + offset;
        for (std::size_t k = 0; k < count; ++k) {
          sums[k] = static_cast<std::int16_t>(sums[k] + at[k * step]);
        }
      }
    }
  }

  /// Points whose magnitudes are summed up side by side.
  static constexpr std::size_t block_points = 16;

  /// Of at least as many points; the last block may overlap the one before.
  template <class Each>
  static void for_each_block(std::size_t count, const Each& each) {
    for (std::size_t k = 0; k + block_points <= count; k += block_points) each(k);
    if (count % block_points != 0) each(count - block_points);
  }

  /// A lane has the magnitude of a point in its low bits, and above what stands between it and the
  /// next one.
  template <class Lane>
  static void sum_block(const std::uint8_t* first, std::span<const std::int64_t> offsets,
                        std::int16_t* sums) {
    static_assert(std::endian::native == std::endian::little);
    Lane all[block_points] = {};
    for (const std::int64_t offset : offsets) {
      Lane lanes[block_points];
      std::memcpy(lanes, first + offset, sizeof lanes);
      for (std::size_t i = 0; i < block_points; ++i) {
        all[i] = static_cast<Lane>(all[i] + (lanes[i] & Lane{0xFF}));
      }
    }
    for (std::size_t i = 0; i < block_points; ++i) sums[i] = static_cast<std::int16_t>(all[i]);
  }

  void add_slopes_of_row(const T* values, const Row& row, const Inner& inner,
                         const EnergyWeights& weights, std::int32_t* out) const {
    with_step(points_.step[3], [&](auto step) {
      std::int32_t sums[row_points];
      const std::size_t end = for_each_pack<T>(inner.begin, inner.end, [&](std::size_t k) {
        const auto p = pack_of(grid_, points_, row, values, k, step);
        weigh_slopes(inner.complete ? inner_slopes(p.value) : slopes_of(plan_, p), weights,
                     sums + k);
      });
      for (std::size_t k = inner.begin; k < end; ++k) out[k] += sums[k];
      for (std::size_t k = end; k < inner.end; ++k) {
        EnergyFeatures f{};
        add_slopes(plan_, slopes_of(plan_, point_of(grid_, points_, row, values, k)), f);
        out[k] += weighted_sum(weights, f);
      }
    });
  }

  /// slopes_of() a point or a pack of points that have all neighbours.
  template <class Values>
  Slopes<ValueAt<Values>> inner_slopes(const Values& value) const {
    using std::fabs;
    using V = ValueAt<Values>;
    SlopeSums<T, V> sums;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (!points_.is_odd(axis)) continue;
      const std::ptrdiff_t unit = stride_of(grid_, points_, axis);
      sums.add(value[-unit], value[unit], value[-3 * unit] + value[3 * unit]);
    }
    V errors = T{0};
    constexpr unsigned slices = same_point - direct;
    for (unsigned i = plan_.energy.begin(slices); i < plan_.energy.end(slices); ++i) {
      const std::ptrdiff_t slice = plan_.energy_offsets[i];
      V sum = 0;
      for (unsigned axis = 0; axis < max_axes; ++axis) {
        if (!points_.is_odd(axis)) continue;
        const std::ptrdiff_t unit = stride_of(grid_, points_, axis);
        sum += value[slice - unit] + value[slice + unit];
      }
      errors += fabs(value[slice] - sum * plan_.near_share);
    }
    return sums.with(errors);
  }

  /// The weighted sums of the features of slopes, which are those of core's add_slopes().
  void weigh_slopes(const Slopes<Pack<T>>& s, const EnergyWeights& weights,
                    std::int32_t* sums) const {
    constexpr std::size_t size = Pack<T>::size;
    std::int32_t gradients[size];
    std::int32_t roughnesses[size];
    slope_features(s.slope * plan_.slope_scale, gradients);
    slope_features(s.bend * plan_.slope_scale + s.spread * plan_.spread_scale, roughnesses);
    const std::int32_t of_gradient = weights[gradient];
    const std::int32_t of_roughness = weights[roughness];
    for (std::size_t i = 0; i < size; ++i) {
      sums[i] = of_gradient * gradients[i] + of_roughness * roughnesses[i];
    }
    if (weights[gradient_root] != 0) {
      for (std::size_t i = 0; i < size; ++i) {
        sums[i] += weights[gradient_root] * root_features[static_cast<std::size_t>(gradients[i])];
      }
    }
    if (weights[slice_error] != 0 && points_.enclosed) {
      std::int32_t errors[size];
      slope_features(s.errors * plan_.slice_scale, errors);
      for (std::size_t i = 0; i < size; ++i) sums[i] += weights[slice_error] * errors[i];
    }
  }

  const Grid& grid_;
  const ClassPlan<T>& plan_;
  const PointClass& points_;
};

}  // namespace cuszi::cpu

#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/energy.hpp"
#include "core/wide_vectors.hpp"
#include "cpu_ref/beside_columns.hpp"

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
    const Inner inner = inner_part(row, points_, grid_, near_margins());
    const Taps taps =
        inner.complete ? Taps(plan_.energy_offsets) : Taps(grid_, points_, row, plan_.energy);
    const auto put = [&](std::size_t k) { out[k] = of_magnitudes(known, row, weights, taps, k); };
    for (std::size_t k = 0; k < inner.begin; ++k) put(k);
    for (std::size_t k = inner.end; k < row.count; ++k) put(k);
    if (inner.begin != inner.end) {
      const std::size_t count = inner.end - inner.begin;
      with_wide_vectors([&] {
        std::fill_n(out + inner.begin, count, weights[constant] * energy_one);
        add_magnitudes(known.magnitudes + row.offset + inner.begin * points_.step[3], taps, weights,
                       out + inner.begin, count);
      });
    }
    if (uses_slopes(weights)) add_slopes_of_row(known.values, row, weights, out);
  }

 private:
  using Taps = RowTaps<EnergyTaps>;

  bool uses_slopes(const EnergyWeights& weights) const {
    return points_.order != 0 && (weights[gradient] != 0 || weights[roughness] != 0 ||
                                  weights[gradient_root] != 0 || weights[slice_error] != 0);
  }

  /// Of the taps alone, which reach no farther than 1.
  Index4 near_margins() const {
    Index4 margins = plan_.energy_margins;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      margins[axis] = std::min(margins[axis], points_.unit[axis]);
    }
    return margins;
  }

  /// The weighted sum of all but the slopes of a point that may lack neighbours along its row.
  std::int32_t of_magnitudes(const Known<T>& known, const Row& row, const EnergyWeights& weights,
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

  static constexpr unsigned slice_group = same_point - direct;
  static constexpr std::size_t most_slices = 2;

  /// The columns beside the points of a row and of its enclosing slices.
  struct Beside {
    BesideColumns<T> own;
    std::array<BesideColumns<T>, most_slices> slices;
  };

  void add_slopes_of_row(const T* values, const Row& row, const EnergyWeights& weights,
                         std::int32_t* out) const {
    const std::size_t inside = row.count - (is_last_at_edge(row, points_, grid_) ? 1 : 0);
    std::size_t done = 0;
    if (inside >= Pack<T>::size && !has_slices_along_rows()) {
      with_step(points_.step[3], [&](auto step) {
        while (done < inside) {
          const std::size_t first = std::min(done, inside - Pack<T>::size);
          const std::size_t count = std::min(BesideColumns<T>::most_points, inside - first);
          std::int32_t sums[BesideColumns<T>::most_points];
          sum_slopes(values, row, first, count, step, weights, sums);
          for (std::size_t k = done - first; k < count; ++k) out[first + k] += sums[k];
          done = first + count;
        }
      });
    }
    for (std::size_t k = done; k < row.count; ++k) {
      EnergyFeatures f{};
      add_slopes(plan_, slopes_of(plan_, point_of(grid_, points_, row, values, k)), f);
      out[k] += weighted_sum(weights, f);
    }
  }

  bool has_slices_along_rows() const {
    return plan_.energy.taps_of(slice_group) != 0 &&
           plan_.energy.taps[plan_.energy.begin(slice_group)][3] != 0;
  }

  /// Of at least as many points as a pack has, all of which have neighbours at 1 along the row.
  template <class Step>
  void sum_slopes(const T* values, const Row& row, std::size_t first, std::size_t count, Step step,
                  const EnergyWeights& weights, std::int32_t* sums) const {
    Beside beside;
    if (points_.is_odd(3)) take_columns(values, row, first, count, step, beside);
    for_each_pack<T>(0, count, [&](std::size_t k) {
      const auto p = pack_of(grid_, points_, row, values, first + k, step);
      weigh_slopes(slopes_of_pack(p, beside, k), weights, sums + k);
    });
  }

  template <class Step>
  void take_columns(const T* values, const Row& row, std::size_t first, std::size_t count,
                    Step step, Beside& beside) const {
    const auto take = [&](const T* from, BesideColumns<T>& columns) {
      columns.take(grid_, points_, row, from, ColumnKind::between_odd, first, count, step);
    };
    take(values, beside.own);
    const PointAt<const T*> p{grid_, points_, row.at, values};
    const unsigned begin = plan_.energy.begin(slice_group);
    for (unsigned i = begin; i < plan_.energy.end(slice_group); ++i) {
      take(near_part(p, plan_.energy.taps[i]), beside.slices.at(i - begin));
    }
  }

  /// slopes_of() a pack of points, of which the first is the k-th of those beside which the columns
  /// are.
  template <class Values>
  Slopes<Pack<T>> slopes_of_pack(const PointAt<Values>& p, const Beside& beside,
                                 std::size_t k) const {
    const auto column = [&](const BesideColumns<T>& columns, int shift) {
      return Pack<T>::load(columns.shifted(shift) + k);
    };
    SlopeSums<T, Pack<T>> sums;
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (!points_.is_odd(axis)) continue;
      sums.add(near_value(p, axis, p.value, -1), near_value(p, axis, p.value, 1),
               far_value(p, axis, p.value, -3) + far_value(p, axis, p.value, 3));
    }
    if (points_.is_odd(3)) {
      sums.add(column(beside.own, 0), column(beside.own, 1),
               column(beside.own, -1) + column(beside.own, 2));
    }
    Pack<T> errors = T{0};
    const unsigned begin = plan_.energy.begin(slice_group);
    for (unsigned i = begin; i < plan_.energy.end(slice_group); ++i) {
      const Values slice = near_part(p, plan_.energy.taps[i]);
      Pack<T> sum = T{0};
      for (unsigned axis = 0; axis < 3; ++axis) {
        if (!points_.is_odd(axis)) continue;
        sum += near_value(p, axis, slice, -1) + near_value(p, axis, slice, 1);
      }
      const BesideColumns<T>& columns = beside.slices[i - begin];
      if (points_.is_odd(3)) sum += column(columns, 0) + column(columns, 1);
      errors += fabs(*slice - sum * plan_.near_share);
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

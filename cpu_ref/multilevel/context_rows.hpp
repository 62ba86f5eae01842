#pragma once

#include <bit>
#include <cstring>

#include "core/multilevel/context.hpp"
#include "cpu_ref/base/wide_vectors.hpp"
#include "cpu_ref/multilevel/neighbour_columns.hpp"
#include "cpu_ref/multilevel/row_taps.hpp"

namespace cuszi::cpu {

/// Restored values and magnitudes, as far as they are known.
template <class T>
struct Known {
  const T* values;
  const std::uint8_t* magnitudes;
};

/// By slope.
inline constexpr auto root_features = [] {
  std::array<std::uint8_t, max_slope + 1> roots{};
  for (std::int32_t slope = 0; slope <= max_slope; ++slope) {
    roots[static_cast<std::size_t>(slope)] = static_cast<std::uint8_t>(root_feature(slope));
  }
  return roots;
}();

template <class P>
[[gnu::always_inline]] inline void slope_features(const P& scaled, std::int32_t* features) {
  using T = typename P::Value;
  T low[P::size];
  lower(scaled, static_cast<T>(max_slope)).store(low);
  for (std::size_t i = 0; i < P::size; ++i) features[i] = static_cast<std::int32_t>(low[i]);
}

/// Bytes after the last magnitude that may be read.
inline constexpr std::size_t magnitudes_room = 128;

/// Weighted sums of features, row by row; equal to core's features_of().
template <class T>
class RowFeatures {
 public:
  /// Keeps references.
  RowFeatures(const Grid& grid, const ClassPlan<T>& plan)
      : grid_(grid), plan_(plan), points_(plan.points), taps_(grid, points_, plan.context_taps) {}

  void weigh(const Known<T>& known, const Row& row, const FeatureWeights& weights,
             std::int32_t* out) {
    if (taps_.go_to(row)) find_taps_at_ends();
    with_vectors([&](auto vectors) {
      put_magnitudes(known.magnitudes, row, weights, out);
      if (uses_slopes(weights))
        add_slopes_of_row<decltype(vectors)>(known.values, row, weights, out);
    });
  }

 private:
  bool uses_slopes(const FeatureWeights& weights) const {
    return points_.order != 0 &&
           (weights[gradient] != 0 || weights[roughness] != 0 || weights[gradient_root] != 0);
  }

  /// Taps of the first and last point of rows, and of single points.
  enum End : std::size_t { first_of_row, last_of_row, only_of_row, ends };

  using Offsets = RowTaps<ContextTaps>::Offsets;

  void find_taps_at_ends() {
    const std::int64_t stride = stride_of(grid_, points_, 3);
    for (unsigned i = 0; i < plan_.context_taps.all_taps(); ++i) {
      const std::int64_t along = plan_.context_taps.taps[i][3] * stride;
      const std::int64_t offset = taps_.offset(i);
      at_ends_[first_of_row][i] = along < 0 ? offset - 2 * along : offset;
      at_ends_[last_of_row][i] = along > 0 ? offset - 2 * along : offset;
      at_ends_[only_of_row][i] = offset - along;
    }
  }

  /// Without slopes.
  void put_magnitudes(const std::uint8_t* magnitudes, const Row& row, const FeatureWeights& weights,
                      std::int32_t* out) const {
    const std::uint64_t unit = reach_along_rows();
    const std::uint64_t last = row.at[3] + (row.count - 1) * points_.step[3];
    const bool lacks_left = row.at[3] < unit;
    const bool lacks_right = last + unit >= grid_.extents[3];
    const std::uint8_t* const first = magnitudes + row.offset;
    if (row.count == 1 && lacks_left && lacks_right) {
      out[0] = of_magnitudes(first, at_ends_[only_of_row], weights);
      return;
    }
    const std::size_t begin = lacks_left ? 1 : 0;
    const std::size_t end = row.count - (lacks_right ? 1 : 0);
    if (lacks_left) out[0] = of_magnitudes(first, at_ends_[first_of_row], weights);
    if (lacks_right) {
      out[end] = of_magnitudes(first + end * points_.step[3], at_ends_[last_of_row], weights);
    }
    put_inner_magnitudes(first + begin * points_.step[3], weights, out + begin, end - begin);
  }

  std::uint64_t reach_along_rows() const {
    return std::min(plan_.context_margins[3], points_.unit[3]);
  }

  /// Without slopes, for a point with the given taps.
  std::int32_t of_magnitudes(const std::uint8_t* magnitude, const Offsets& offsets,
                             const FeatureWeights& weights) const {
    Features f{};
    f[constant] = feature_one;
    for (unsigned g = 0; g < plan_.context_taps.size; ++g) {
      for (unsigned i = plan_.context_taps.begin(g); i < plan_.context_taps.end(g); ++i) {
        f[direct + g] += magnitude[offsets[i]];
      }
    }
    return weighted_sum(weights, f);
  }

  /// For points with all neighbours along the row.
  void put_inner_magnitudes(const std::uint8_t* first, const FeatureWeights& weights,
                            std::int32_t* out, std::size_t count) const {
    const std::uint64_t step = points_.step[3];
    switch (step) {
      case sizeof(std::uint16_t): return put_blocks<std::uint16_t>(first, weights, out, count);
      case sizeof(std::uint32_t): return put_blocks<std::uint32_t>(first, weights, out, count);
      case sizeof(std::uint64_t): return put_blocks<std::uint64_t>(first, weights, out, count);
      default:
        for (std::size_t k = 0; k < count; ++k) {
          out[k] = of_magnitudes(first + k * step, taps_.offsets(), weights);
        }
    }
  }

  /// Points per vector of magnitudes.
  static constexpr std::size_t block_points = 16;

  template <class Lane>
  void put_blocks(const std::uint8_t* first, const FeatureWeights& weights, std::int32_t* out,
                  std::size_t count) const {
    for (std::size_t k = 0; k < count; k += block_points) {
      std::int32_t sums[block_points];
      sum_block<Lane>(first + k * sizeof(Lane), weights, sums);
      std::copy_n(sums, std::min(block_points, count - k), out + k);
    }
  }

  /// Lanes hold magnitudes in their low bits; the bits above them cancel.
  template <class Lane>
  void sum_block(const std::uint8_t* first, const FeatureWeights& weights,
                 std::int32_t* out) const {
    static_assert(std::endian::native == std::endian::little);
    static_assert(block_points * sizeof(Lane) <= magnitudes_room);
    using Lanes [[gnu::vector_size(block_points * sizeof(Lane))]] = Lane;
    using Sums [[gnu::vector_size(block_points * sizeof(std::int32_t))]] = std::int32_t;
    Sums sums = Sums{} + weights[constant] * feature_one;
    for (unsigned g = 0; g < plan_.context_taps.size; ++g) {
      const std::int32_t weight = weights[direct + g];
      if (weight == 0) continue;
      Lanes of_group{};
      for (const std::int64_t offset : taps_.of_group(g)) {
        Lanes lanes;
        std::memcpy(&lanes, first + offset, sizeof lanes);
        of_group += lanes & Lane{0xFF};
      }
      sums += weight * __builtin_convertvector(of_group, Sums);
    }
    std::memcpy(out, &sums, sizeof sums);
  }

  template <class V>
  void add_slopes_of_row(const T* values, const Row& row, const FeatureWeights& weights,
                         std::int32_t* out) const {
    const std::size_t inside = row.count - (is_last_at_edge(row, points_, grid_) ? 1 : 0);
    const bool in_packs = inside >= Pack<T>::size;
    if (in_packs) {
      with_step(points_.step[3], [&](auto step) {
        with_packs<T, V>(inside, [&](auto kind) {
          using P = typename decltype(kind)::type;
          add_slopes_of_packs<P>(values, row, inside, step, weights, out);
        });
      });
    }
    for (std::size_t k = in_packs ? inside : 0; k < row.count; ++k) {
      Features f{};
      add_slopes(plan_, slopes_of(plan_, point_of(grid_, points_, row, values, k)), f);
      out[k] += weighted_sum(weights, f);
    }
  }

  /// `inside` is at least a pack.
  template <class P, class Step>
  void add_slopes_of_packs(const T* values, const Row& row, std::size_t inside, Step step,
                           const FeatureWeights& weights, std::int32_t* out) const {
    std::size_t done = 0;
    while (done < inside) {
      const std::size_t first = std::min(done, inside - P::size);
      const std::size_t count = std::min(NeighbourColumns<T>::most_points, inside - first);
      std::int32_t sums[NeighbourColumns<T>::most_points];
      sum_slopes<P>(values, row, first, count, step, weights, sums);
      for (std::size_t k = done - first; k < count; ++k) out[first + k] += sums[k];
      done = first + count;
    }
  }

  /// `count` is at least a pack. All points have neighbours at distance 1 along the row.
  template <class P, class Step>
  void sum_slopes(const T* values, const Row& row, std::size_t first, std::size_t count, Step step,
                  const FeatureWeights& weights, std::int32_t* sums) const {
    NeighbourColumns<T> columns;
    if (points_.is_odd(3)) {
      columns.take(grid_, points_, row, values, ColumnKind::between_odd, first, count, step,
                   {-1, 2});
    }
    for_each_pack<P>(0, count, [&](std::size_t k) {
      const auto p = pack_of<P>(grid_, points_, row, values, first + k, step);
      weigh_slopes(slopes_of_pack<P>(p, columns, k), weights, sums + k);
    });
  }

  /// slopes_of() for a pack from the k-th column on.
  template <class P, class Values>
  Slopes<P> slopes_of_pack(const PointAt<Values>& p, const NeighbourColumns<T>& columns,
                           std::size_t k) const {
    const auto column = [&](int shift) { return P::load(columns.shifted(shift) + k); };
    SlopeSums<T, P> sums;
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (!points_.is_odd(axis)) continue;
      sums.add(near_value(p, axis, p.value, -1), near_value(p, axis, p.value, 1),
               far_value(p, axis, p.value, -3) + far_value(p, axis, p.value, 3));
    }
    if (points_.is_odd(3)) sums.add(column(0), column(1), column(-1) + column(2));
    return sums.slopes();
  }

  /// add_slopes() with weights.
  template <class P>
  void weigh_slopes(const Slopes<P>& s, const FeatureWeights& weights, std::int32_t* sums) const {
    constexpr std::size_t size = P::size;
    std::int32_t gradients[size];
    std::int32_t roughnesses[size];
    slope_features(s.slope * plan_.slope_scale, gradients);
    slope_features(s.curvature * plan_.slope_scale + s.spread * plan_.spread_scale, roughnesses);
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
  }

  const Grid& grid_;
  const ClassPlan<T>& plan_;
  const PointClass& points_;
  RowTaps<ContextTaps> taps_;
  std::array<Offsets, ends> at_ends_{};
};

}  // namespace cuszi::cpu

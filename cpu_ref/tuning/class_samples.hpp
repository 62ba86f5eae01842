#pragma once

#include <cmath>

#include "core/multilevel/class_plan.hpp"
#include "core/multilevel/code_position.hpp"
#include "core/tuning/fit_sample.hpp"
#include "cpu_ref/base/wide_vectors.hpp"
#include "cpu_ref/tuning/stencil_fit.hpp"

namespace cuszi::cpu {

/// Observations of a class by some groups of a stencil; core's observe_sums() for 32 points at
/// once.
template <class T>
class StencilObserver {
 public:
  /// Indices in `whole`, which has the groups of `part` in the same order.
  StencilObserver(const PointClass& points, const Stencil& part, const Stencil& whole,
                  std::uint64_t wanted, double background = 0)
      : order_(points.order),
        size_(part.size),
        background_(part.size == 0 ? background : 0),
        sample_(part.size == 0 ? 0 : part.size - 1U, wanted) {
    unsigned in_whole = 0;
    for (unsigned g = 0; g < part.size; ++g) {
      const auto is_same = [&](unsigned other) {
        return whole.taps_of(other) == part.taps_of(g) &&
               whole.taps[whole.begin(other)] == part.taps[part.begin(g)];
      };
      while (!is_same(in_whole)) ++in_whole;
      Group& group = groups_[g];
      group.number = in_whole;
      group.taps = part.taps_of(g);
      group.far_axis =
          g >= order_ && group.taps == 2 ? far_pair_of(points, part.taps[part.begin(g)]) : order_;
    }
  }

  /// Some of the 32 points may be at edges.
  struct Block {
    T values[sum_lanes];
    T sums[Stencil::most_groups][sum_lanes];
    bool at_edge[sum_lanes];
  };

  void take(const Block& block, std::size_t number, double bound) {
    double near[max_axes][sum_lanes] = {};
    double sum[sum_lanes];
    double curvature[sum_lanes] = {};
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
      sum[lane] = static_cast<double>(block.values[lane]);
    }
    for (unsigned g = 0; g < size_; ++g) {
      const Group& group = groups_[g];
      const T* const in_group = block.sums[group.number];
      const auto taps = static_cast<double>(group.taps);
      double mean[sum_lanes];
      for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
        const auto one = static_cast<double>(in_group[lane]);
        sum[lane] += one;
        mean[lane] = one / taps;
      }
      if (g < order_) std::copy_n(mean, sum_lanes, near[g]);
      if (g != 0) {
        double* const row = sample_.row(number, g - 1);
        for (std::size_t lane = 0; lane < sum_lanes; ++lane) row[lane] = mean[lane] - near[0][lane];
      }
      if (group.far_axis >= order_) continue;
      const double* const of_axis = near[group.far_axis];
      for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
        curvature[lane] += 2 * std::fabs(of_axis[lane] - mean[lane]);
      }
    }
    put(block, number, bound, near[0], sum, curvature);
  }

  Observations finish() {
    sample_.make_bins();
    return std::move(sample_);
  }

 private:
  struct Group {
    unsigned number = 0;  ///< in the whole stencil
    unsigned taps = 0;
    unsigned far_axis = 0;  ///< index of the odd axis of a far pair
  };

  void put(const Block& block, std::size_t number, double bound, const double* near,
           const double* sum, const double* curvature) {
    const std::size_t first = number * sum_lanes;
    const std::size_t count = std::min<std::size_t>(sum_lanes, sample_.samples() - first);
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
      if (lane < count && !block.at_edge[lane] && std::isfinite(sum[lane])) {
        const double target = static_cast<double>(block.values[lane]) - near[lane] - background_;
        sample_.set(first + lane, {target, curvature[lane], true}, bound);
        continue;
      }
      for (unsigned i = 0; i < sample_.unknowns(); ++i) sample_.row(number, i)[lane] = 0;
      if (lane < count) sample_.set(first + lane, {}, bound);
    }
  }

  unsigned order_;
  unsigned size_;
  double background_;
  Observations sample_;
  std::array<Group, Stencil::most_groups> groups_{};
};

/// Observes `wanted` points for each of `views`. The class's stencil has the groups of all views.
template <class T>
void sample_class(const Grid& grid, const ClassPlan<T>& c, std::uint64_t wanted, double bound,
                  const T* values, std::span<StencilObserver<T>> views) {
  const Stencil& stencil = c.stencil;
  typename StencilObserver<T>::Block block{};
  for (std::uint64_t first = 0; first < wanted; first += sum_lanes) {
    const std::uint64_t count = std::min<std::uint64_t>(sum_lanes, wanted - first);
    for (std::uint64_t lane = 0; lane < count; ++lane) {
      const std::uint64_t sampled = sampled_point(first + lane, wanted, c.points.points());
      const Index4 at = position_of(c.points, raster_point(c.points, sampled));
      const PointAt<const T*> p{grid, c.points, at, values + offset_of(grid, at)};
      const bool inner = is_inner(at, c.stencil_margins, grid.extents);
      block.values[lane] = *p.value;
      block.at_edge[lane] = !inner && is_at_edge(p);
      for (unsigned g = 0; g < stencil.size && !block.at_edge[lane]; ++g) {
        block.sums[g][lane] =
            inner ? inner_group_sum(c, g, p.value)
                  : group_sum(p, stencil.taps.data() + stencil.begin(g), stencil.taps_of(g));
      }
    }
    with_wide_vectors([&] {
      for (StencilObserver<T>& view : views) view.take(block, first / sum_lanes, bound);
    });
  }
}

}  // namespace cuszi::cpu

#pragma once

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "core/multilevel/class_plan.hpp"
#include "cpu_ref/multilevel/steps_out.hpp"

namespace cuszi::cpu {

/// Offsets of neighbours up to `farthest` steps away, mirrored outside the array like near_part().
/// Branch-free: sampled points defeat branch prediction.
template <int farthest>
class NearOffsets {
 public:
  /// Steps along the two slow and the two fast axes.
  struct TapSteps {
    std::uint8_t slow;
    std::uint8_t fast;
  };
  static TapSteps steps_of(const Tap& tap) {
    return {two_steps(tap[0], tap[1]), two_steps(tap[2], tap[3])};
  }

  NearOffsets() = default;
  /// `strides` are in units of the class.
  NearOffsets(const Grid& grid, const PointClass& points,
              const std::array<std::int64_t, max_axes>& strides, const Index4& at) {
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      along_[axis][farthest] = 0;
      for (int units = 1; units <= farthest; ++units) {
        const std::uint64_t distance = static_cast<unsigned>(units) * points.unit[axis];
        const bool has_left = at[axis] >= distance;
        const bool has_right = at[axis] + distance < grid.extents[axis];
        const std::int64_t there = has_left || has_right ? units * strides[axis] : 0;
        along_[axis][index_of(-units)] = has_left ? -there : there;
        along_[axis][index_of(units)] = has_right ? there : -there;
      }
    }
    for (unsigned i = 0; i < steps; ++i) {
      for (unsigned j = 0; j < steps; ++j) {
        slow_[steps * i + j] = along_[0][i] + along_[1][j];
        fast_[steps * i + j] = along_[2][i] + along_[3][j];
      }
    }
  }

  std::int64_t operator()(const TapSteps& tap) const { return slow_[tap.slow] + fast_[tap.fast]; }
  std::int64_t along(unsigned axis, int units) const { return along_[axis][index_of(units)]; }

 private:
  static constexpr unsigned steps = 2 * farthest + 1;

  static constexpr unsigned index_of(int units) { return static_cast<unsigned>(units + farthest); }
  static std::uint8_t two_steps(int slow, int fast) {
    const auto index = [](int units) { return index_of(std::abs(units) <= farthest ? units : 0); };
    return static_cast<std::uint8_t>(steps * index(slow) + index(fast));
  }

  std::array<std::array<std::int64_t, steps>, max_axes> along_;
  std::array<std::int64_t, steps * steps> slow_;
  std::array<std::int64_t, steps * steps> fast_;
};

/// group_sum() for arbitrary points of a class.
template <class T>
class Neighbours {
 public:
  /// Keeps references.
  Neighbours(const Grid& grid, const PointClass& points, const Stencil& stencil)
      : grid_(grid), points_(points), stencil_(stencil) {
    margins_ = margins_of(points, stencil.all());
    for (unsigned axis = 0; axis < max_axes; ++axis) strides_[axis] = stride_of(grid, points, axis);
    for (unsigned i = 0; i < stencil.all_taps(); ++i) {
      const Tap& tap = stencil.taps[i];
      for (unsigned axis = 0; axis < max_axes; ++axis) {
        offsets_[i] += tap[axis] * strides_[axis];
        if (tap[axis] > 2 || tap[axis] < -2) {
          far_parts_[i] = tap[axis] * strides_[axis];
          far_axes_[i] = static_cast<std::uint8_t>(axis);
        }
      }
      near_steps_[i] = Near::steps_of(tap);
      steps_[i] = StepsOut::bits_of(tap);
      far_steps_[i] = StepsOut::far_bits_of(tap);
    }
    for (unsigned g = 0; g < stencil.size; ++g) {
      for (unsigned i = stencil.begin(g); i < stencil.end(g); ++i) group_steps_[g] |= steps_[i];
    }
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (points.is_odd(axis)) edge_steps_ |= StepsOut::bit_of(axis, 1);
    }
  }

  /// Calls put(group, sum) for the point at `at`. Returns false for points at edges that cannot use
  /// the stencil.
  template <class Put>
  bool sums(const Index4& at, const T* value, const Put& put) const {
    if (is_inner(at, margins_, grid_.extents)) {
      for (unsigned g = 0; g < stencil_.size; ++g) put(g, sum_inside(g, value));
      return true;
    }
    const StepsOut out(grid_, points_, at);
    if ((out.bits() & edge_steps_) != 0) return false;
    const PointAt<const T*> p{grid_, points_, at, value};
    const Near near(grid_, points_, strides_, at);
    for (unsigned g = 0; g < stencil_.size; ++g) {
      put(g, (out.bits() & group_steps_[g]) == 0 ? sum_inside(g, value)
                                                 : sum_at_edge(g, p, out, near));
    }
    return true;
  }

 private:
  using Near = NearOffsets<2>;

  T sum_inside(unsigned g, const T* value) const {
    unsigned i = stencil_.begin(g);
    T sum = value[offsets_[i]] + value[offsets_[i + 1]];
    for (i += 2; i < stencil_.end(g); i += 2) sum += value[offsets_[i]] + value[offsets_[i + 1]];
    return sum;
  }

  T sum_at_edge(unsigned g, const PointAt<const T*>& p, const StepsOut& out,
                const Near& near) const {
    const auto tap = [&](unsigned i) {
      const T* const value = p.value + near(near_steps_[i]);
      if ((out.bits() & far_steps_[i]) == 0) return value[far_parts_[i]];
      return far_value(p, far_axes_[i], value, stencil_.taps[i][far_axes_[i]]);
    };
    unsigned i = stencil_.begin(g);
    T sum = tap(i) + tap(i + 1);
    for (i += 2; i < stencil_.end(g); i += 2) sum += tap(i) + tap(i + 1);
    return sum;
  }

  const Grid& grid_;
  const PointClass& points_;
  const Stencil& stencil_;
  Index4 margins_{};
  std::uint64_t edge_steps_ = 0;
  std::array<std::int64_t, max_axes> strides_{};
  std::array<std::int64_t, Stencil::most_taps> offsets_{};
  std::array<std::int64_t, Stencil::most_taps> far_parts_{};  ///< of `offsets_`
  std::array<std::uint8_t, Stencil::most_taps> far_axes_{};   ///< of each far tap
  std::array<Near::TapSteps, Stencil::most_taps> near_steps_{};
  std::array<std::uint64_t, Stencil::most_taps> steps_{};
  std::array<std::uint64_t, Stencil::most_taps> far_steps_{};
  std::array<std::uint64_t, Stencil::most_groups> group_steps_{};
};

}  // namespace cuszi::cpu

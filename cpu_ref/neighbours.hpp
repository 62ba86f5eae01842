#pragma once

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "core/class_plan.hpp"

namespace cuszi::cpu {

/// Steps of a tap along an axis: which of them lead out of the array is a bit for each.
class StepsOut {
 public:
  /// The bits of a point's steps that do. Units are powers of two.
  StepsOut(const Grid& grid, const PointClass& points, const Index4& at) {
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      const int shift = std::countr_zero(points.unit[axis]);
      const std::uint64_t below = at[axis] >> shift;
      const std::uint64_t above = (grid.extents[axis] - 1 - at[axis]) >> shift;
      bits_ |= (beyond(below) | beyond(above) << steps) << (axis * 2 * steps);
    }
  }

  std::uint64_t bits() const { return bits_; }
  bool has(unsigned axis, int units) const { return (bits_ & bit_of(axis, units)) != 0; }

  static std::uint64_t bit_of(unsigned axis, int units) {
    if (units == 0) return 0;
    const unsigned side = units < 0 ? 0 : steps;
    return std::uint64_t{1} << (axis * 2 * steps + side + index_of(std::abs(units)));
  }

  /// All steps that a tap consists of.
  static std::uint64_t bits_of(const Tap& tap) {
    std::uint64_t bits = 0;
    for (unsigned axis = 0; axis < max_axes; ++axis) bits |= bit_of(axis, tap[axis]);
    return bits;
  }

  /// Those that are farther than 2.
  static std::uint64_t far_bits_of(const Tap& tap) {
    std::uint64_t bits = 0;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (tap[axis] > 2 || tap[axis] < -2) bits |= bit_of(axis, tap[axis]);
    }
    return bits;
  }

 private:
  static constexpr unsigned steps = 5;  ///< of 1, 2, 3, 5 and 7 units

  static constexpr unsigned index_of(int units) {
    return static_cast<unsigned>(units <= 3 ? units - 1 : (units + 1) / 2);
  }

  /// Of so many units there are in the array, the steps that are longer.
  static std::uint64_t beyond(std::uint64_t units) {
    constexpr std::array<std::uint8_t, 8> longer{0x1F, 0x1E, 0x1C, 0x18, 0x18, 0x10, 0x10, 0};
    return longer[std::min<std::uint64_t>(units, longer.size() - 1)];
  }

  std::uint64_t bits_ = 0;
};

/// How far the neighbours of a point are, that lie up to two steps away along each axis: where one
/// is out of the array, its mirror image, as near_part() says.
class NearbyAtEdge {
 public:
  /// The near part of a tap, as steps along the two slow axes and the two fast ones.
  struct TapSteps {
    std::uint8_t slow;
    std::uint8_t fast;
  };
  static TapSteps steps_of(const Tap& tap) {
    return {two_steps(tap[0], tap[1]), two_steps(tap[2], tap[3])};
  }

  NearbyAtEdge(const StepsOut& out, const std::array<std::int64_t, max_axes>& strides) {
    std::array<std::array<std::int64_t, steps>, max_axes> along;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      for (unsigned i = 0; i < steps; ++i) {
        const int units = static_cast<int>(i) - farthest;
        const std::int64_t there = units * strides[axis];
        const std::int64_t mirrored = out.has(axis, -units) ? 0 : -there;
        along[axis][i] = out.has(axis, units) ? mirrored : there;
      }
    }
    for (unsigned i = 0; i < steps; ++i) {
      for (unsigned j = 0; j < steps; ++j) {
        slow_[steps * i + j] = along[0][i] + along[1][j];
        fast_[steps * i + j] = along[2][i] + along[3][j];
      }
    }
  }

  std::int64_t operator()(const TapSteps& tap) const { return slow_[tap.slow] + fast_[tap.fast]; }

 private:
  static constexpr int farthest = 2;
  static constexpr unsigned steps = 2 * farthest + 1;

  static std::uint8_t two_steps(int slow, int fast) {
    const auto index = [](int units) {
      return static_cast<unsigned>(std::abs(units) <= farthest ? units + farthest : farthest);
    };
    return static_cast<std::uint8_t>(steps * index(slow) + index(fast));
  }

  std::array<std::int64_t, steps * steps> slow_;
  std::array<std::int64_t, steps * steps> fast_;
};

/// The groups of neighbours of a class's points, wherever these stand. The sums are those of core's
/// group_sum().
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
        if (tap[axis] > 2 || tap[axis] < -2) far_parts_[i] = tap[axis] * strides_[axis];
      }
      near_steps_[i] = NearbyAtEdge::steps_of(tap);
      steps_[i] = StepsOut::bits_of(tap);
      far_steps_[i] = StepsOut::far_bits_of(tap);
    }
    for (unsigned g = 0; g < stencil.size; ++g) {
      for (unsigned i = stencil.begin(g); i < stencil.end(g); ++i) group_steps_[g] |= steps_[i];
      pairs_[g] = far_pair_of(stencil, g);
      farthest_ = std::max(farthest_, pairs_[g].distance);
    }
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (points.is_odd(axis)) edge_steps_ |= StepsOut::bit_of(axis, 1);
    }
    near_taps_ = std::min(2U * points.order, stencil.all_taps());
  }

  /// Has the processor fetch a point's value and its nearest neighbours.
  void prefetch(const T* original, const T* value) const {
    __builtin_prefetch(original);
    if (value != original) __builtin_prefetch(value);
    for (unsigned i = 0; i < near_taps_; ++i) __builtin_prefetch(value + offsets_[i]);
  }
  /// The same where each is made when it is read.
  template <class Values>
  void prefetch(const T* original, const Values& /*values*/) const {
    __builtin_prefetch(original);
  }

  /// Calls put(group, sum) for the groups of the point at these coordinates, whose neighbours
  /// `value` reads. Returns false, and calls nothing, if it is at an edge where they cannot be
  /// used.
  template <class Values, class Put>
  bool sums(const Index4& at, const Values& value, const Put& put) const {
    if (is_inner(at, margins_, grid_.extents)) {
      for (unsigned g = 0; g < stencil_.size; ++g) put(g, sum_inside(g, value));
      return true;
    }
    const StepsOut out(grid_, points_, at);
    if ((out.bits() & edge_steps_) != 0) return false;
    const PointAt<Values> p{grid_, points_, at, value};
    const NearbyAtEdge nearby(out, strides_);
    Lines lines;
    for (unsigned g = 0; g < stencil_.size; ++g) {
      if ((out.bits() & group_steps_[g]) == 0) {
        put(g, sum_inside(g, value));
      } else if (pairs_[g].distance > 2) {
        put(g, sum_of_pair(pairs_[g], value, out, lines));
      } else {
        put(g, sum_at_edge(g, p, out, nearby));
      }
    }
    return true;
  }

 private:
  /// The neighbours of a group that are so far to the left and to the right.
  struct FarPair {
    unsigned axis = 0;
    int distance = 0;
  };

  static FarPair far_pair_of(const Stencil& stencil, unsigned g) {
    const Tap& left = stencil.taps[stencil.begin(g)];
    FarPair pair;
    unsigned moves = 0;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (left[axis] == 0) continue;
      ++moves;
      pair = {axis, -left[axis]};
    }
    return moves == 1 && stencil.taps_of(g) == 2 ? pair : FarPair{};
  }

  /// The neighbours at 3, 5 and 7 along odd axes, to the left and to the right, once they have been
  /// asked for.
  struct Lines {
    std::array<std::array<std::array<T, 2>, 3>, max_axes> values;
    std::array<bool, max_axes> are_known{};
  };

  template <class Values>
  T sum_of_pair(const FarPair& pair, const Values& value, const StepsOut& out, Lines& lines) const {
    auto& line = lines.values[pair.axis];
    if (!std::exchange(lines.are_known[pair.axis], true)) {
      find_line(pair.axis, -1, value, out, line);
      find_line(pair.axis, 1, value, out, line);
    }
    const auto& [left, right] = line[static_cast<unsigned>(pair.distance - 3) / 2];
    return left + right;
  }

  /// One side of such a line: core's far_value() of all distances, between known near neighbours.
  template <class Values>
  void find_line(unsigned axis, int side, const Values& value, const StepsOut& out,
                 std::array<std::array<T, 2>, 3>& line) const {
    const std::int64_t stride = side * strides_[axis];
    const T near = value[stride];
    const T opposite = value[-stride];
    T before = opposite;
    T last = near;
    for (int distance = 3; distance <= farthest_; distance += 2) {
      T next;
      if (!out.has(axis, side * distance)) {
        next = value[distance * stride];
      } else if (distance != 3) {
        next = 3 * (last - before) + (distance == 5 ? opposite : near);
      } else if (out.has(axis, -3 * side)) {
        next = (near + near) - opposite;
      } else {
        next = 3 * (near - opposite) + value[-3 * stride];
      }
      line[static_cast<unsigned>(distance - 3) / 2][side < 0 ? 0 : 1] = next;
      before = last;
      last = next;
    }
  }

  template <class Values>
  T sum_inside(unsigned g, const Values& value) const {
    unsigned i = stencil_.begin(g);
    T sum = value[offsets_[i]] + value[offsets_[i + 1]];
    for (i += 2; i < stencil_.end(g); i += 2) sum += value[offsets_[i]] + value[offsets_[i + 1]];
    return sum;
  }

  template <class Values>
  T sum_at_edge(unsigned g, const PointAt<Values>& p, const StepsOut& out,
                const NearbyAtEdge& nearby) const {
    const auto tap = [&](unsigned i) {
      return (out.bits() & far_steps_[i]) == 0 ? p.value[far_parts_[i] + nearby(near_steps_[i])]
                                               : tap_value(p, stencil_.taps[i]);
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
  unsigned near_taps_ = 0;  ///< of the first groups: pairs at 1
  std::uint64_t edge_steps_ = 0;
  int farthest_ = 0;
  std::array<FarPair, Stencil::most_groups> pairs_{};
  std::array<std::int64_t, max_axes> strides_{};
  std::array<std::int64_t, Stencil::most_taps> offsets_{};
  std::array<std::int64_t, Stencil::most_taps> far_parts_{};  ///< of these
  std::array<NearbyAtEdge::TapSteps, Stencil::most_taps> near_steps_{};
  std::array<std::uint64_t, Stencil::most_taps> steps_{};
  std::array<std::uint64_t, Stencil::most_taps> far_steps_{};
  std::array<std::uint64_t, Stencil::most_groups> group_steps_{};
};

}  // namespace cuszi::cpu

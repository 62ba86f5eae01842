#pragma once

#include <algorithm>
#include <bit>

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

/// How far from a tap its mirror image is, which near_part() reads where steps of 1 or 2 lead out
/// of the array.
inline std::int64_t mirroring(const Grid& grid, const PointClass& points, const Tap& tap,
                              const StepsOut& out) {
  std::int64_t offset = 0;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    const auto units = int{tap[axis]};
    if (!out.has(axis, units)) continue;
    offset -= (out.has(axis, -units) ? 1 : 2) * units * stride_of(grid, points, axis);
  }
  return offset;
}

/// The groups of neighbours of a class's points, wherever these stand. The sums are those of core's
/// group_sum().
template <class T>
class Neighbours {
 public:
  /// Keeps references.
  Neighbours(const Grid& grid, const PointClass& points, const Stencil& stencil)
      : grid_(grid), points_(points), stencil_(stencil) {
    margins_ = margins_of(points, stencil.all());
    for (unsigned i = 0; i < stencil.all_taps(); ++i) {
      const Tap& tap = stencil.taps[i];
      for (unsigned axis = 0; axis < max_axes; ++axis) {
        offsets_[i] += tap[axis] * stride_of(grid, points, axis);
      }
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
    for (unsigned g = 0; g < stencil_.size; ++g) {
      put(g, (out.bits() & group_steps_[g]) == 0 ? sum_inside(g, value) : sum_at_edge(g, p, out));
    }
    return true;
  }

 private:
  template <class Values>
  T sum_inside(unsigned g, const Values& value) const {
    unsigned i = stencil_.begin(g);
    T sum = value[offsets_[i]] + value[offsets_[i + 1]];
    for (i += 2; i < stencil_.end(g); i += 2) sum += value[offsets_[i]] + value[offsets_[i + 1]];
    return sum;
  }

  template <class Values>
  T sum_at_edge(unsigned g, const PointAt<Values>& p, const StepsOut& out) const {
    unsigned i = stencil_.begin(g);
    T sum = tap_value_of(i, p, out) + tap_value_of(i + 1, p, out);
    for (i += 2; i < stencil_.end(g); i += 2) {
      sum += tap_value_of(i, p, out) + tap_value_of(i + 1, p, out);
    }
    return sum;
  }

  /// core's tap_value().
  template <class Values>
  T tap_value_of(unsigned i, const PointAt<Values>& p, const StepsOut& out) const {
    if ((out.bits() & steps_[i]) == 0) return p.value[offsets_[i]];
    if ((out.bits() & far_steps_[i]) == 0) {
      return p.value[offsets_[i] + mirroring(grid_, points_, stencil_.taps[i], out)];
    }
    return tap_value(p, stencil_.taps[i]);
  }

  const Grid& grid_;
  const PointClass& points_;
  const Stencil& stencil_;
  Index4 margins_{};
  std::uint64_t edge_steps_ = 0;
  std::array<std::int64_t, Stencil::most_taps> offsets_{};
  std::array<std::uint64_t, Stencil::most_taps> steps_{};
  std::array<std::uint64_t, Stencil::most_taps> far_steps_{};
  std::array<std::uint64_t, Stencil::most_groups> group_steps_{};
};

}  // namespace cuszi::cpu

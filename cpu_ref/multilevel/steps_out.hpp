#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "core/multilevel/class_plan.hpp"

namespace cuszi::cpu {

/// A bit mask of the tap steps that leave the array.
class StepsOut {
 public:
  /// Units are powers of two.
  StepsOut(const Grid& grid, const PointClass& points, const Index4& at) {
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      const int shift = std::countr_zero(points.unit[axis]);
      const std::uint64_t below = at[axis] >> shift;
      const std::uint64_t above = (grid.extents[axis] - 1 - at[axis]) >> shift;
      bits_ |= (beyond(below) | beyond(above) << steps) << (axis * 2 * steps);
    }
  }

  std::uint64_t bits() const { return bits_; }
  std::uint64_t bits_across_rows() const { return bits_ & (bit_of(3, -1) - 1); }
  bool has(unsigned axis, int units) const { return (bits_ & bit_of(axis, units)) != 0; }

  static std::uint64_t bit_of(unsigned axis, int units) {
    if (units == 0) return 0;
    const unsigned side = units < 0 ? 0 : steps;
    return std::uint64_t{1} << (axis * 2 * steps + side + index_of(std::abs(units)));
  }

  static std::uint64_t bits_of(const Tap& tap) {
    std::uint64_t bits = 0;
    for (unsigned axis = 0; axis < max_axes; ++axis) bits |= bit_of(axis, tap[axis]);
    return bits;
  }

  /// Steps longer than 2 units.
  static std::uint64_t far_bits_of(const Tap& tap) {
    std::uint64_t bits = 0;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (tap[axis] > 2 || tap[axis] < -2) bits |= bit_of(axis, tap[axis]);
    }
    return bits;
  }

 private:
  static constexpr unsigned steps = 5;  ///< lengths 1, 2, 3, 5 and 7

  static constexpr unsigned index_of(int units) {
    return static_cast<unsigned>(units <= 3 ? units - 1 : (units + 1) / 2);
  }

  /// Lengths above `units`, the distance to the array's edge.
  static std::uint64_t beyond(std::uint64_t units) {
    constexpr std::array<std::uint8_t, 8> longer{0x1F, 0x1E, 0x1C, 0x18, 0x18, 0x10, 0x10, 0};
    return longer[std::min<std::uint64_t>(units, longer.size() - 1)];
  }

  std::uint64_t bits_ = 0;
};

}  // namespace cuszi::cpu

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "cpu_ref/multilevel/lattice_rows.hpp"

namespace cuszi::cpu {

/// Taps of a row's points, mirrored at 1 and 2 across the row like near_part(). Rows at equal
/// distances from the array's ends share them.
template <class Groups>
class RowTaps {
 public:
  using Offsets = std::array<std::int64_t, Groups::most_taps>;

  /// Keeps references.
  RowTaps(const Grid& grid, const PointClass& points, const Groups& groups)
      : grid_(grid), points_(points), groups_(groups) {}

  /// Returns whether the taps changed.
  bool go_to(const Row& row) {
    const Ends ends = ends_of(row);
    if (std::exchange(ends_, ends) == ends) return false;
    has_far_ = false;
    const PointAt<const std::byte*> p{grid_, points_, row.at, nullptr};
    for (unsigned i = 0; i < groups_.all_taps(); ++i) find(p, i);
    return true;
  }

  std::int64_t offset(unsigned tap) const { return offsets_[tap]; }
  const Offsets& offsets() const { return offsets_; }
  std::span<const std::int64_t> of_group(unsigned group) const {
    return std::span(offsets_).subspan(groups_.begin(group), groups_.taps_of(group));
  }
  /// Extrapolated by tap_value().
  bool is_far(unsigned tap) const { return is_far_[tap]; }
  bool has_far() const { return has_far_; }

 private:
  /// Distances to the array's ends across the row, in units, at most the longest tap's.
  using Ends = std::array<std::uint64_t, 6>;
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  Ends ends_of(const Row& row) const {
    constexpr std::uint64_t longest = 7;
    Ends ends{};
    for (unsigned axis = 0; axis < 3; ++axis) {
      const int shift = std::countr_zero(points_.unit[axis]);
      const std::uint64_t after = grid_.extents[axis] - 1 - row.at[axis];
      ends[2 * axis] = std::min(row.at[axis] >> shift, longest);
      ends[2 * axis + 1] = std::min(after >> shift, longest);
    }
    return ends;
  }

  void find(const PointAt<const std::byte*>& p, unsigned i) {
    const Tap& tap = groups_.taps[i];
    offsets_[i] = tap[3] * stride_of(grid_, points_, 3);
    is_far_[i] = false;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const auto units = int{tap[axis]};
      if (units == 0) continue;
      const std::int64_t there = units * stride_of(grid_, points_, axis);
      if (is_inside(p, axis, units)) {
        offsets_[i] += there;
      } else if (units > 2 || units < -2) {
        is_far_[i] = true;
      } else if (is_inside(p, axis, -units)) {
        offsets_[i] -= there;
      }
    }
    has_far_ = has_far_ || is_far_[i];
  }

  const Grid& grid_;
  const PointClass& points_;
  const Groups& groups_;
  Ends ends_{nowhere};
  Offsets offsets_{};
  std::array<bool, Groups::most_taps> is_far_{};
  bool has_far_ = false;
};

}  // namespace cuszi::cpu

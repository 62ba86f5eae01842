#pragma once

#include "cpu_ref/multilevel/lattice_rows.hpp"

namespace cuszi::cpu {

/// Position of neighbour columns relative to those of a class.
enum class ColumnKind : std::uint8_t {
  between_odd,     ///< between odd ones; extrapolated outside the array
  between_slices,  ///< between slices of a layered axis; mirrored
  among,           ///< every second step, in the class's columns; mirrored
};

/// In columns.
struct Shifts {
  int lowest = 0;
  int highest = 0;
};

/// At distance 1.
inline bool is_last_at_edge(const Row& row, const PointClass& points, const Grid& grid) {
  const std::uint64_t last = row.at[3] + (row.count - 1) * points.step[3];
  return points.is_odd(3) && last + points.unit[3] >= grid.extents[3];
}

/// Gathered neighbour columns, with replacements outside the array. Column k between others is half
/// a step before column k of the class.
template <class T>
class NeighbourColumns {
 public:
  static constexpr std::size_t most_points = 128;
  static constexpr std::size_t most_shift = 4;  ///< for taps at 7

  /// Gathers `count` points from `first` on. `values` is the start of the row or a neighbouring
  /// one; `step` is the class's step.
  template <class Step>
  void take(const Grid& grid, const PointClass& points, const Row& row, const T* values,
            ColumnKind kind, std::size_t first, std::size_t count, Step step,
            const Shifts& shifts) {
    const std::uint64_t before = kind == ColumnKind::among ? 0 : points.unit[3];
    const std::uint64_t all =
        (grid.extents[3] - 1 - (points.first[3] - before)) / points.step[3] + 1;
    const T* const from =
        values + row.offset - static_cast<std::ptrdiff_t>(row.begin * points.step[3] + before);
    const auto own = static_cast<std::int64_t>(row.begin + first);
    const std::int64_t begin = own + shifts.lowest;
    const std::int64_t end = own + static_cast<std::int64_t>(count) + shifts.highest;
    const std::int64_t known_begin = std::max<std::int64_t>(begin, 0);
    const std::int64_t known_end = std::min(end, static_cast<std::int64_t>(all));
    T* const known = columns_.data() + most_shift + (known_begin - own);
    for (std::int64_t i = 0; i < known_end - known_begin; ++i) {
      known[i] = from[(known_begin + i) * step];
    }
    if (begin < 0) pad(known, -1, -begin, all, kind);
    if (end > known_end) pad(known + (known_end - known_begin) - 1, 1, end - known_end, all, kind);
  }

  const T* shifted(int shift) const {
    return columns_.data() + static_cast<std::ptrdiff_t>(most_shift) + shift;
  }

 private:
  /// Extends by `count` beyond `last` on one side (-1 or 1). Neighbours at distance 1 or 2 are
  /// mirrored.
  static void pad(T* last, int side, std::int64_t count, std::uint64_t all, ColumnKind kind) {
    if (kind != ColumnKind::between_odd) {
      last[side] = kind == ColumnKind::between_slices || all == 1 ? last[0] : last[-side];
      return;
    }
    // Like far_value().
    if (all < 2) return;
    last[side] = all == 2 ? after_two(last[0], last[-side])
                          : after_three(last[0], last[-side], last[-2 * side]);
    for (std::int64_t i = 2; i <= count; ++i) {
      last[side * i] =
          after_three(last[side * (i - 1)], last[side * (i - 2)], last[side * (i - 3)]);
    }
  }

  std::array<T, most_points + 2 * most_shift> columns_;
};

}  // namespace cuszi::cpu

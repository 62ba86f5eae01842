#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/field/mask.hpp"

namespace cuszi {

/// Points of an array: along each axis, slowest first, every `step`-th in [first, end). May be
/// empty.
struct Selection {
  static constexpr std::uint64_t no_end = ~std::uint64_t{0};

  Dims from;
  std::array<std::uint64_t, Dims::max_rank> first{};
  std::array<std::uint64_t, Dims::max_rank> step{1, 1, 1, 1};
  std::array<std::uint64_t, Dims::max_rank> end{no_end, no_end, no_end, no_end};

  std::uint64_t count(int axis) const;
  std::uint64_t points() const;
  bool all() const { return points() == from.count(); }
  /// The selection must not be empty.
  Dims dims() const;
};

/// Calls visit(linear position in the array) in raster order.
template <class Visit>
void for_each_point(const Selection& selection, const Visit& visit) {
  const int last = selection.from.rank() - 1;
  const std::uint64_t in_row = selection.count(last);
  const std::uint64_t rows = in_row == 0 ? 0 : selection.points() / in_row;
  const std::uint64_t step = selection.step[static_cast<std::size_t>(last)];
  std::array<std::uint64_t, Dims::max_rank> at = selection.first;
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::uint64_t point = 0;
    for (int axis = 0; axis <= last; ++axis)
      point = point * selection.from[axis] + at[static_cast<std::size_t>(axis)];
    for (std::uint64_t i = 0; i < in_row; ++i) visit(point + i * step);
    for (int axis = last; axis-- > 0;) {
      const auto a = static_cast<std::size_t>(axis);
      at[a] += selection.step[a];
      if (at[a] < selection.first[a] + selection.count(axis) * selection.step[a]) break;
      at[a] = selection.first[a];
    }
  }
}

/// Indices in [first, end) along each axis, slowest first.
struct Box {
  static constexpr std::uint64_t no_end = Selection::no_end;

  std::array<std::uint64_t, Dims::max_rank> first{};
  std::array<std::uint64_t, Dims::max_rank> end{no_end, no_end, no_end, no_end};

  friend bool operator==(const Box&, const Box&) = default;
};

/// Throws UsageError unless the box is not empty and lies in the field.
void check_box(const Box& box, const Dims& dims);

/// A box of at most `most_points` points, made by halving the longest axis. Boxes 0 .. parts - 1
/// are spread along the array's diagonal.
Selection box_of(const Dims& dims, std::uint64_t most_points, std::uint64_t part = 0,
                 std::uint64_t parts = 1);

/// Copies the values of each selection in turn, in raster order.
void pick(std::span<const Selection> selections, DType dtype, Bytes from, MutableBytes to);
inline void pick(const Selection& selection, DType dtype, Bytes from, MutableBytes to) {
  pick(std::span(&selection, 1), dtype, from, to);
}

/// Bit i % 64 of word i / 64 is point i.
std::vector<std::uint64_t> pick(const Selection& selection, const std::vector<std::uint64_t>& bits);

Mask pick(std::span<const Selection> selections, DType dtype, const Mask& from);
inline Mask pick(const Selection& selection, DType dtype, const Mask& from) {
  return pick(std::span(&selection, 1), dtype, from);
}

}  // namespace cuszi

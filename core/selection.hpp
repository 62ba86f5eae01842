#pragma once

#include <array>
#include <cstdint>

#include "core/dims.hpp"
#include "core/dtype.hpp"
#include "core/mask.hpp"
#include "core/units.hpp"

namespace cuszi {

/// Points of an array: along each axis, slowest first, every `step`-th from `first` on. There may
/// be none.
struct Selection {
  Dims from;  ///< of the array
  std::array<std::uint64_t, Dims::max_rank> first{};
  std::array<std::uint64_t, Dims::max_rank> step{1, 1, 1, 1};

  std::uint64_t count(int axis) const;  ///< selected indices of an axis
  std::uint64_t points() const;
  bool all() const { return points() == from.count(); }
  /// The dims of the selected points, of which there must be some.
  Dims dims() const;
};

/// Copies the selected values, in raster order.
void pick(const Selection& selection, DType dtype, Bytes from, MutableBytes to);

/// The missing points among the selected ones.
Mask pick(const Selection& selection, DType dtype, const Mask& from);

}  // namespace cuszi

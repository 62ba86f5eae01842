#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/cli/options.hpp"
#include "core/archive/frame.hpp"
#include "core/archive/frame_plan.hpp"
#include "core/field/selection.hpp"

namespace cuszi::app {

template <class T>
using PerAxis = std::array<T, Dims::max_rank>;

/// A plane through a field; a strip where only one axis is left.
struct Slice {
  std::optional<int> axis;      ///< that it cuts; none where it is all that there is
  std::optional<int> rows;      ///< the axis from top to bottom; none of a strip
  int columns = 0;              ///< the axis from left to right
  PerAxis<std::uint64_t> at{};  ///< its index of every other axis
  PerAxis<bool> is_exact{};     ///< whether the user has named that index
};

/// The slices that are asked for, else the middle ones along each axis. Axes of extent 1 do not
/// count; the slowest of four others is cut at one index, its middle unless that is asked for.
/// Throws UsageError for axes and indices that the field does not have.
std::vector<Slice> choose_slices(const Dims& dims, std::span<const SliceChoice> asked);

/// What is shown of a field.
struct SlicePlan {
  Dims dims;  ///< of the field
  std::vector<Slice> slices;
  PerAxis<std::uint64_t> step{1, 1, 1, 1};  ///< from one point that is shown to the next
  std::uint64_t stride = 1;                 ///< of the preview that has all of them
  Box box;                                  ///< of the preview

  std::uint64_t rows(const Slice& slice) const;
  std::uint64_t columns(const Slice& slice) const;
};

/// Whether a preview with a stride thins an axis of a field whose first frame has this header.
PerAxis<bool> thinned_axes(const FieldCuts& cuts, const FrameHeader& first);

/// Plans to show every `stride`-th point of thinned axes, without a stride the smallest power of
/// two with which no slice is longer than `side`. Middle slices move down to a point that the
/// preview has; for indices that the user has named, the preview is as fine as they need.
SlicePlan plan_slices(const Dims& dims, const PerAxis<bool>& thinned, std::vector<Slice> slices,
                      std::optional<std::uint64_t> stride, std::uint64_t side);

/// An axis of a field of these dims, as users know it: x is the fastest, then y, z and w.
char axis_letter(const Dims& dims, int axis);

}  // namespace cuszi::app

#include "app/picture/slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codec/settings/limits.hpp"
#include "core/archive/preview.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

std::size_t place(int axis) { return static_cast<std::size_t>(axis); }

/// An index at which an axis is cut.
struct Cut {
  int axis;
  std::uint64_t index;
  bool is_exact;
};

Cut cut_of(const Dims& dims, const SliceChoice& choice) {
  const std::string option = fmt::format("--slice {}={}", choice.axis, choice.index);
  const std::string_view names = picture_axes.substr(place(Dims::max_rank - dims.rank()));
  const std::size_t axis = names.find(choice.axis);
  if (axis == std::string_view::npos) {
    throw UsageError(fmt::format("{}: a field of {} has no axis {}; it has {}, x the fastest",
                                 option, dims.to_string(), choice.axis, names));
  }
  const std::uint64_t extent = dims.extents()[axis];
  if (choice.index >= extent) {
    throw UsageError(fmt::format("{}: axis {} of {} has the indices 0 to {}", option, choice.axis,
                                 dims.to_string(), extent - 1));
  }
  return {static_cast<int>(axis), choice.index, true};
}

/// The axes that have more than one index, at least one axis.
std::vector<int> long_axes(const Dims& dims) {
  std::vector<int> axes;
  for (int axis = 0; axis < dims.rank(); ++axis) {
    if (dims[axis] > 1) axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back(dims.rank() - 1);
  return axes;
}

void cut(Slice& slice, const Cut& where) {
  slice.at.at(place(where.axis)) = where.index;
  slice.is_exact.at(place(where.axis)) = where.is_exact;
}

/// Lays the fastest of `axes` out as a plane.
Slice laid_out(Slice slice, std::span<const int> axes) {
  slice.columns = axes.back();
  if (axes.size() > 1) slice.rows = axes[axes.size() - 2];
  return slice;
}

Slice slice_along(const Dims& dims, Slice slice, std::vector<int> axes, const Cut& where) {
  std::erase(axes, where.axis);
  if (axes.empty()) {
    throw UsageError(fmt::format("--slice {}={}: leaves one point of {}; leave it out",
                                 axis_letter(dims, where.axis), where.index, dims.to_string()));
  }
  slice.axis = where.axis;
  cut(slice, where);
  return laid_out(slice, axes);
}

/// The smallest power of two of which `side` steps reach over an extent.
std::uint64_t step_over(std::uint64_t extent, std::uint64_t side) {
  return std::bit_ceil((extent - 1) / side + 1);
}

/// Calls visit(axis) for the axes that a slice shows.
template <class Visit>
void for_each_shown(const Slice& slice, const Visit& visit) {
  if (slice.rows) visit(*slice.rows);
  visit(slice.columns);
}

PerAxis<bool> shown_by(const Slice& slice) {
  PerAxis<bool> shown{};
  for_each_shown(slice, [&](int axis) { shown.at(place(axis)) = true; });
  return shown;
}

/// The stride along thinned axes with which no slice is longer than `side`.
std::uint64_t stride_for(const SlicePlan& plan, const PerAxis<bool>& thinned, std::uint64_t side) {
  std::uint64_t stride = 1;
  for (const Slice& slice : plan.slices) {
    for_each_shown(slice, [&](int axis) {
      if (thinned.at(place(axis))) stride = std::max(stride, step_over(plan.dims[axis], side));
    });
  }
  return stride;
}

/// The largest stride up to `most` that has the indices that the user has named.
std::uint64_t preview_stride(const SlicePlan& plan, const PerAxis<bool>& thinned,
                             std::uint64_t most) {
  std::uint64_t stride = std::min(most, most_stride);
  for (const Slice& slice : plan.slices) {
    for (std::size_t axis = 0; axis < thinned.size(); ++axis) {
      if (!thinned[axis] || !slice.is_exact[axis]) continue;
      while (slice.at[axis] % stride != 0) stride /= 2;
    }
  }
  return stride;
}

/// Moves the indices that nobody has named down to points of the preview.
void move_middles(SlicePlan& plan, const PerAxis<bool>& thinned) {
  for (Slice& slice : plan.slices) {
    for (std::size_t axis = 0; axis < thinned.size(); ++axis) {
      if (thinned[axis] && !slice.is_exact[axis]) slice.at[axis] -= slice.at[axis] % plan.stride;
    }
  }
}

/// The box that all slices lie in.
Box box_around(const SlicePlan& plan) {
  Box box;
  for (int axis = 0; axis < plan.dims.rank(); ++axis) {
    const std::size_t a = place(axis);
    std::uint64_t first = plan.dims[axis];
    std::uint64_t end = 0;
    for (const Slice& slice : plan.slices) {
      const bool is_shown = shown_by(slice)[a];
      first = std::min(first, is_shown ? 0 : slice.at[a]);
      end = std::max(end, is_shown ? plan.dims[axis] : slice.at[a] + 1);
    }
    if (first == 0 && end == plan.dims[axis]) continue;
    box.first[a] = first;
    box.end[a] = end;
  }
  return box;
}

}  // namespace

char axis_letter(const Dims& dims, int axis) {
  return picture_axes.at(place(Dims::max_rank - dims.rank() + axis));
}

std::vector<Slice> choose_slices(const Dims& dims, std::span<const SliceChoice> asked) {
  std::vector<int> axes = long_axes(dims);
  Slice base;
  for (int axis = 0; axis < dims.rank(); ++axis) base.at.at(place(axis)) = dims[axis] / 2;
  std::vector<Cut> cuts;
  for (const SliceChoice& choice : asked) {
    const Cut where = cut_of(dims, choice);
    const bool is_outer = axes.size() == place(Dims::max_rank) && where.axis == 0;
    if (is_outer && base.is_exact[0]) {
      throw UsageError(fmt::format("--slice {}={}: w is given twice; of four axes it has one index",
                                   choice.axis, choice.index));
    }
    if (is_outer) {
      cut(base, where);
    } else {
      cuts.push_back(where);
    }
  }
  if (axes.size() == place(Dims::max_rank)) axes.erase(axes.begin());
  if (cuts.empty() && axes.size() > 2) {
    for (const int axis : axes) cuts.push_back({axis, base.at.at(place(axis)), false});
  }
  if (cuts.empty()) return {laid_out(base, axes)};
  std::vector<Slice> slices;
  slices.reserve(cuts.size());
  for (const Cut& where : cuts) slices.push_back(slice_along(dims, base, axes, where));
  return slices;
}

std::uint64_t SlicePlan::rows(const Slice& slice) const {
  return slice.rows ? (dims[*slice.rows] - 1) / step.at(place(*slice.rows)) + 1 : 1;
}

std::uint64_t SlicePlan::columns(const Slice& slice) const {
  return (dims[slice.columns] - 1) / step.at(place(slice.columns)) + 1;
}

PerAxis<bool> thinned_axes(const FieldCuts& cuts, const FrameHeader& first) {
  Preview preview(cuts, 2);
  preview.choose_axes(cuts.frame_dims(0), first);
  const Selection selection = preview.of_frame(0);
  PerAxis<bool> thinned{};
  std::ranges::transform(selection.step, thinned.begin(),
                         [](std::uint64_t step) { return step == 2; });
  return thinned;
}

SlicePlan plan_slices(const Dims& dims, const PerAxis<bool>& thinned, std::vector<Slice> slices,
                      std::optional<std::uint64_t> stride, std::uint64_t side) {
  SlicePlan plan;
  plan.dims = dims;
  plan.slices = std::move(slices);
  const std::uint64_t along_thinned = stride ? *stride : stride_for(plan, thinned, side);
  for (int axis = 0; axis < dims.rank(); ++axis) {
    const std::uint64_t whole = stride ? 1 : step_over(dims[axis], side);
    plan.step.at(place(axis)) = thinned.at(place(axis)) ? along_thinned : whole;
  }
  plan.stride = preview_stride(plan, thinned, along_thinned);
  move_middles(plan, thinned);
  plan.box = box_around(plan);
  return plan;
}

}  // namespace cuszi::app

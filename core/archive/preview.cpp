#include "core/archive/preview.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/base/error.hpp"
#include "core/multilevel/schedule.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return ceil_div(value, unit) * unit;
}

using PerAxis = std::array<bool, Dims::max_rank>;

const MultilevelParams* multilevel_of(const FrameHeader& header) {
  return header.predictor ? std::get_if<MultilevelParams>(&*header.predictor) : nullptr;
}

bool merges_axes(const MultilevelParams& params, const Dims& dims) {
  return params.lattice.merged && dims.squeezed().rank() == Dims::max_rank;
}

/// Which of a frame's axes, those of extent 1 aside, are lattice axes. Of two that are merged it
/// can be the faster one.
PerAxis lattice_axes(const MultilevelParams& params, const Dims& dims) {
  PerAxis lattice{};
  auto padded = max_axes - static_cast<unsigned>(dims.squeezed().rank());
  for (int axis = 0; axis < dims.rank(); ++axis) {
    if (dims[axis] == 1) continue;
    lattice.at(static_cast<std::size_t>(axis)) =
        params.lattice.roles.at(padded++) == AxisRole::lattice;
  }
  if (merges_axes(params, dims)) lattice[0] = false;
  return lattice;
}

/// The largest stride up to that of the anchors whose lattice has all the wanted points.
std::uint64_t restored_stride(const MultilevelParams& params, const PerAxis& lattice,
                              const Selection& wanted) {
  std::uint64_t stride = std::uint64_t{1} << params.lattice.levels;
  for (std::size_t axis = 0; axis < lattice.size(); ++axis) {
    if (!lattice[axis]) continue;
    stride = std::gcd(stride, wanted.step[axis]);
    stride = std::gcd(stride, wanted.first[axis]);
  }
  const bool merged = merges_axes(params, wanted.from) && lattice[1];
  return merged ? std::gcd(stride, wanted.from[1]) : stride;
}

}  // namespace

Preview::Preview(const FieldCuts& plan, std::uint64_t stride, const Box& box)
    : plan_(plan), stride_(stride), box_(box) {
  check_box(box, plan.dims);
}

void Preview::choose_axes(const Dims& first_dims, const FrameHeader& first) {
  const MultilevelParams* const params = multilevel_of(first);
  thinned_.fill(true);
  if (params != nullptr) thinned_ = lattice_axes(*params, first_dims);
  for (int axis = 0; axis < plan_.dims.rank(); ++axis) {
    if (first_dims[axis] == 1) thinned_.at(static_cast<std::size_t>(axis)) = false;
  }
  if (of_field().points() == 0) {
    throw UsageError("the box has no indices that are multiples of the stride " +
                     std::to_string(stride_) + "; make it larger");
  }
}

Selection Preview::of_field() const {
  Selection selection{plan_.dims, box_.first, {1, 1, 1, 1}, box_.end};
  for (std::size_t axis = 0; axis < thinned_.size(); ++axis) {
    if (thinned_[axis]) selection.step[axis] = stride_;
    selection.first[axis] = round_up(box_.first[axis], selection.step[axis]);
  }
  return selection;
}

Selection Preview::of_frame(std::uint64_t i) const {
  Selection selection = of_field();
  selection.from = plan_.frame_dims(i);
  const auto origin = plan_.origin(i);
  for (std::size_t axis = 0; axis < origin.size(); ++axis) {
    const std::uint64_t first =
        round_up(std::max(selection.first[axis], origin[axis]), selection.step[axis]);
    selection.first[axis] = first - origin[axis];
    std::uint64_t& end = selection.end[axis];
    if (end != Selection::no_end) end -= std::min(end, origin[axis]);
  }
  return selection;
}

std::uint64_t Preview::points_before(std::uint64_t i) const {
  const Selection field = of_field();
  const Selection frame = of_frame(i);
  const auto origin = plan_.origin(i);
  std::uint64_t points = 0;
  for (int axis = 0; axis < plan_.dims.rank(); ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const std::uint64_t index = (origin[a] + frame.first[a] - field.first[a]) / field.step[a];
    points = points * field.count(axis) + index;
  }
  return points;
}

FramePreview FramePreview::of(const Dims& dims, const FrameHeader& header,
                              const Selection& wanted) {
  if (header.kind == FrameKind::constant) {
    return {wanted, {wanted.dims(), {}, {1, 1, 1, 1}}};
  }
  FramePreview preview{{dims, {}, {1, 1, 1, 1}}, wanted};
  const MultilevelParams* const params = multilevel_of(header);
  if (params == nullptr) return preview;
  const PerAxis lattice = lattice_axes(*params, dims);
  preview.stride = restored_stride(*params, lattice, wanted);
  for (std::size_t axis = 0; axis < lattice.size(); ++axis) {
    if (!lattice[axis]) continue;
    preview.restored.step[axis] = preview.stride;
    preview.shown.first[axis] /= preview.stride;
    preview.shown.step[axis] /= preview.stride;
    std::uint64_t& end = preview.shown.end[axis];
    if (end != Selection::no_end) end = ceil_div(end, preview.stride);
  }
  preview.shown.from = preview.restored.dims();
  preview.passes = make_schedule(params->lattice.at_stride(preview.stride)).passes.size();
  preview.levels = static_cast<std::size_t>(params->level_of_pass()[preview.passes - 1]) + 1;
  return preview;
}

ByteCount restoring_bytes(const FrameShape& shape, const FrameHeader& header,
                          const FramePreview& preview) {
  constexpr ByteCount bytes_per_coded_point = 4;   // its quant-code, symbol and context
  constexpr ByteCount bytes_per_listed_byte = 8;   // an entry in memory has 16, stored at least 3
  constexpr ByteCount bytes_per_payload_byte = 2;  // as it is read, and unpacked or in words
  const ByteCount value_bytes = size_of(shape.dtype);
  ByteCount bytes = preview.restored.points() * value_bytes;
  if (!preview.shown.all()) bytes += 2 * preview.shown.points() * value_bytes;
  if (header.kind == FrameKind::lossless) bytes *= 3;  // once more packed, once as planes of bytes
  if (header.kind == FrameKind::coded) bytes += preview.restored.points() * bytes_per_coded_point;
  if (header.masked() != 0) {
    bytes += ceil_div(shape.points(), 4) + header.masked() * (2 * value_bytes + 1);
  }
  if (header.bounds) bytes += preview.restored.points() + BlockGrid::of(shape.dims).count();
  for (std::size_t level = 0; level < std::min(preview.levels, header.levels.size()); ++level) {
    for (const SectionEntry& section : header.levels[level].sections) {
      const bool is_list = section.id == SectionId::outliers || section.id == SectionId::patches;
      const ByteCount size = section.unpacked ? section.unpacked->size : section.size;
      bytes += size * (is_list ? bytes_per_listed_byte : bytes_per_payload_byte);
    }
  }
  return bytes;
}

}  // namespace cuszi

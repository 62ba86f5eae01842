#include "core/archive/preview.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "core/base/error.hpp"
#include "core/cells/grid.hpp"
#include "core/multilevel/schedule.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return ceil_div(value, unit) * unit;
}

using PerAxis = std::array<bool, Dims::max_rank>;

class PassLattice {
 public:
  PassLattice(const FrameHeader& header, const Dims& dims) {
    if (!header.predictor) return;
    multilevel_ = std::get_if<MultilevelParams>(&*header.predictor);
    cells_ = std::get_if<CellsParams>(&*header.predictor);
    if (!exists()) return;
    merged_ = (cells_ != nullptr || multilevel_->lattice.merged) &&
              dims.squeezed().rank() == Dims::max_rank;
    auto padded = max_axes - static_cast<unsigned>(dims.squeezed().rank());
    for (int axis = 0; axis < dims.rank(); ++axis) {
      if (dims[axis] == 1) continue;
      axes_.at(static_cast<std::size_t>(axis)) =
          cells_ != nullptr || multilevel_->lattice.roles.at(padded++) == AxisRole::lattice;
    }
    if (merged_) axes_[0] = false;
  }

  bool exists() const { return multilevel_ != nullptr || cells_ != nullptr; }
  /// Lattice axes of extent above 1; the faster of two merged axes can be one.
  const PerAxis& axes() const { return axes_; }

  /// The largest stride, at most the anchors', whose lattice contains all wanted points.
  std::uint64_t restored_stride(const Selection& wanted) const {
    std::uint64_t stride = cells_ != nullptr ? static_cast<std::uint64_t>(cells_->tile())
                                             : std::uint64_t{1} << multilevel_->lattice.levels;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (!axes_[axis]) continue;
      stride = std::gcd(stride, wanted.step[axis]);
      stride = std::gcd(stride, wanted.first[axis]);
    }
    return merged_ && axes_[1] ? std::gcd(stride, wanted.from[1]) : stride;
  }
  std::size_t passes(std::uint64_t stride) const {
    if (cells_ != nullptr) return cells_->passes_of_stride(stride);
    return make_schedule(multilevel_->lattice.at_stride(stride)).passes.size();
  }
  std::vector<int> level_of_pass() const {
    return cells_ != nullptr ? cells_->level_of_pass() : multilevel_->level_of_pass();
  }

 private:
  const MultilevelParams* multilevel_ = nullptr;
  const CellsParams* cells_ = nullptr;
  bool merged_ = false;
  PerAxis axes_{};
};

/// Also of points outside the field.
ByteCount cell_bytes(const CellsParams& params, const Extents3& extents) {
  return cell_grid(params.rank, extents).count() *
         (cell_codes * sizeof(std::int16_t) + tile_blocks);
}

/// Memory for the codes of all levels, their magnitudes for contexts, and the current pass.
ByteCount code_bytes(const FrameShape& shape, const FrameHeader& header,
                     const FramePreview& preview) {
  constexpr ByteCount code = sizeof(QuantCode);
  constexpr ByteCount context = 1;
  constexpr ByteCount magnitude = 1;
  const PredictorId predictor = id_of(*header.predictor);
  if (predictor == PredictorId::cells)
    return cell_bytes(std::get<CellsParams>(*header.predictor), shape.extents());
  if (has_own_coder(predictor)) return 0;
  const std::uint64_t points = preview.restored.points();
  if (predictor != PredictorId::multilevel) return points * (code + code);
  const std::vector<PassShape> shapes = pass_shapes(*header.predictor, shape.points());
  std::uint64_t in_pass = 0;
  for (const PassShape& pass : std::span(shapes).first(preview.passes)) {
    in_pass = std::max(in_pass, pass.points);
  }
  const ByteCount mask = header.masked() != 0 ? 1 : 0;
  return points * (code + magnitude) + in_pass * (code + code + context + mask);  // in two orders
}

ByteCount side_bytes(const FrameShape& shape, const FrameHeader& header,
                     const FramePreview& preview) {
  ByteCount bytes = header.transform ? ceil_div(shape.points(), 4) : 0;
  if (header.bounds) bytes += preview.restored.points() + BlockGrid::of(shape.extents()).count();
  return bytes;
}

const SectionEntry* find_section(const LevelEntry& level, SectionId id) {
  const auto at = std::find_if(level.sections.begin(), level.sections.end(),
                               [&](const SectionEntry& section) { return section.id == id; });
  return at == level.sections.end() ? nullptr : &*at;
}

ByteCount mask_bytes(const FrameShape& shape, const FrameHeader& header) {
  const ByteCount value_bytes = size_of(work_of(shape.dtype));
  const SectionEntry* const values = find_section(header.levels.front(), SectionId::mask_values);
  const bool has_one_value = values != nullptr && values->size <= 1 + value_bytes;
  const ByteCount of_values = has_one_value ? value_bytes : 2 * value_bytes + 1;
  return ceil_div(shape.points(), 4) + header.masked() * of_values;
}

ByteCount payload_in_work(const FrameHeader& header, std::size_t levels) {
  constexpr ByteCount bytes_per_listed_byte = 8;  // 16 in memory, at least 3 stored
  constexpr ByteCount bytes_per_byte = 2;         // as read, and unpacked or as words
  ByteCount bytes = 0;
  for (std::size_t level = 0; level < std::min(levels, header.levels.size()); ++level) {
    for (const SectionEntry& section : header.levels[level].sections) {
      const bool is_list = section.id == SectionId::outliers || section.id == SectionId::patches;
      const ByteCount size = section.unpacked ? section.unpacked->size : section.size;
      bytes += size * (is_list ? bytes_per_listed_byte : bytes_per_byte);
    }
  }
  return bytes;
}

}  // namespace

Preview::Preview(const FieldCuts& plan, std::uint64_t stride, const Box& box)
    : plan_(plan), stride_(stride), box_(box) {
  check_box(box, plan.dims);
}

void Preview::choose_axes(const Dims& first_dims, const FrameHeader& first) {
  const PassLattice lattice(first, first_dims);
  thinned_.fill(true);
  if (lattice.exists()) thinned_ = lattice.axes();
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
  const PassLattice lattice(header, dims);
  if (!lattice.exists()) return preview;
  preview.stride = lattice.restored_stride(wanted);
  for (std::size_t axis = 0; axis < lattice.axes().size(); ++axis) {
    if (!lattice.axes()[axis]) continue;
    preview.restored.step[axis] = preview.stride;
    preview.shown.first[axis] /= preview.stride;
    preview.shown.step[axis] /= preview.stride;
    std::uint64_t& end = preview.shown.end[axis];
    if (end != Selection::no_end) end = ceil_div(end, preview.stride);
  }
  preview.shown.from = preview.restored.dims();
  preview.passes = lattice.passes(preview.stride);
  preview.levels = static_cast<std::size_t>(lattice.level_of_pass()[preview.passes - 1]) + 1;
  return preview;
}

ByteCount restoring_bytes(const FrameShape& shape, const FrameHeader& header,
                          const FramePreview& preview) {
  const bool is_packed = header.kind == FrameKind::lossless || header.kind == FrameKind::predicted;
  const bool is_work = !is_without_loss(header.kind);
  const ByteCount value_bytes = size_of(is_work ? work_of(shape.dtype) : shape.dtype);
  ByteCount bytes = preview.restored.points() * value_bytes;
  if (is_work && is_cast(shape.dtype)) bytes += preview.restored.points() * size_of(shape.dtype);
  if (!preview.shown.all()) bytes += 2 * preview.shown.points() * value_bytes;
  if (is_packed) bytes *= 3;  // as byte planes, or as words of blocks with their places
  if (header.kind == FrameKind::coded) {
    bytes += code_bytes(shape, header, preview) + side_bytes(shape, header, preview);
  }
  if (header.masked() != 0) bytes += mask_bytes(shape, header);
  return bytes + payload_in_work(header, preview.levels);
}

}  // namespace cuszi

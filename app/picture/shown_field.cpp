#include "app/picture/shown_field.hpp"

#include <fmt/format.h>

#include <array>

#include "app/report/progress.hpp"
#include "codec/archive/archive_reader.hpp"
#include "codec/archive/field_codec.hpp"
#include "codec/files/input_field.hpp"
#include "core/archive/archive.hpp"
#include "core/archive/preview.hpp"
#include "core/base/error.hpp"
#include "core/field/bound.hpp"

namespace cuszi::app {

namespace {

constexpr std::uint64_t most_points = std::uint64_t{1} << 26;  ///< of all slices

/// Whether a file is an archive: by its first bytes, or by its name if it is damaged.
bool is_archive(const std::string& name) {
  if (field_path(name).format != Format::raw) return false;
  const FileSource source(name);
  if (!source.size()) {
    throw InputError(input_name(name) + ": is a pipe; a picture needs a file, to look into it");
  }
  std::array<std::byte, archive_prefix_bytes> prefix{};
  const std::size_t got = source.read_at(0, prefix);
  return begins_archive(Bytes(prefix).first(got)) || name.ends_with(".cuszi");
}

SlicePlan planned(const ShowOptions& options, const FieldCuts& cuts, const FrameHeader& first,
                  const SideFor& side_for) {
  std::vector<Slice> slices = choose_slices(cuts.dims, options.slices);
  const std::uint64_t side = side_for(slices.size());
  SlicePlan plan =
      plan_slices(cuts.dims, thinned_axes(cuts, first), std::move(slices), options.stride, side);
  std::uint64_t points = 0;
  for (const Slice& slice : plan.slices) points += plan.rows(slice) * plan.columns(slice);
  if (points > most_points) {
    throw UsageError(
        fmt::format("the picture would have {} points; a larger --stride, or none, "
                    "makes it at most {}",
                    points, most_points));
  }
  return plan;
}

Preview preview_of(const SlicePlan& plan, const FieldCuts& cuts, const FrameHeader& first) {
  Preview preview(cuts, plan.stride, plan.box);
  preview.choose_axes(cuts.frame_dims(0), first);
  return preview;
}

/// What a field is compared with, if it is, as it is read beside it.
class Original {
 public:
  Original(const ShowOptions& options, const SlicePlan& plan, const FieldLayout& layout,
           const FieldCuts& cuts, const FillValues& fills) {
    if (!options.original) return;
    field_.emplace(open_alike(*options.original, layout, cuts));
    if (field_->is_stream()) field_->hold();
    points_.emplace(plan, cuts, layout.dtype, fills);
  }

  void take(std::uint64_t i, const Selection& selection) {
    if (field_) points_->take(i, selection, read_points(*field_, i, selection));
  }

  std::vector<Panel> panels() const {
    if (!field_) return {};
    field_->expect_unchanged();
    return points_->panels();
  }

 private:
  std::optional<FieldSource> field_;
  std::optional<PointCollector> points_;
};

/// Throws UsageError if an option is given that an archive says itself.
void refuse_field_options(const ShowOptions& options) {
  const char* const said = options.field.dims         ? "--dims"
                           : options.field.dtype      ? "--type"
                           : options.field.skip_bytes ? "--skip-bytes"
                           : options.fills.count != 0 ? "--fill-value"
                                                      : nullptr;
  if (said == nullptr) return;
  throw UsageError(fmt::format("{}: is an archive, which says itself what it holds; leave out {}",
                               options.input, said));
}

/// The header of an archive's first frame; its values are left alone.
FrameHeader first_header(const std::string& archive) {
  FileSource source(archive);
  ArchiveReader reader(source);
  return reader.next_frame([](const ArchiveFrame&) { return std::size_t{0}; }).header;
}

ShownField read_archive(const ShowOptions& options, Backends& backends, const SideFor& side_for) {
  refuse_field_options(options);
  FileSource source(options.input);
  ArchiveReader reader(source);
  const ArchiveHeader& header = reader.header();
  const FrameHeader first = first_header(options.input);
  ShownField shown;
  shown.dtype = header.dtype;
  shown.plan = planned(options, header.plan, first, side_for);
  Preview preview = preview_of(shown.plan, header.plan, first);
  const FieldLayout layout{header.dtype, header.plan.dims, 0, options.field.byte_order};
  Original original(options, shown.plan, layout, header.plan, header.fills);
  PointCollector points(shown.plan, header.plan, header.dtype, header.fills);
  Progress progress(options.input, preview.dims().count() * size_of(header.dtype),
                    !options.run.quiet);
  FrameUsers users;
  users.memory_limit = options.run.memory_limit;
  users.use = [&](std::uint64_t i, MutableBytes values) {
    const Selection selection = preview.of_frame(i);
    points.take(i, selection, values);
    original.take(i, selection);
    progress.advance(values.size());
  };
  CallTimes times;
  restore_field(backends, reader, preview, times, users);
  source.expect_unchanged();
  shown.panels = points.panels();
  shown.originals = original.panels();
  if (header.bound_absolute != no_bound) shown.bound = header.bound_absolute;
  shown.archive_bytes = source.size();
  shown.read_bytes = reader.bytes_read();
  return shown;
}

ShownField read_field(const ShowOptions& options, const SideFor& side_for) {
  InputField opened = open_input(options.input, options.field);
  FieldSource& field = opened.source;
  const FieldCuts& cuts = field.plan();
  const FillValues fills = joined(options.fills, opened.fills);
  ShownField shown;
  shown.dtype = field.layout().dtype;
  shown.plan = planned(options, cuts, {}, side_for);
  FieldLayout layout = field.layout();
  if (opened.describes_itself) {
    layout = {layout.dtype, layout.dims, 0, options.field.byte_order};
  }
  Original original(options, shown.plan, layout, cuts, fills);
  PointCollector points(shown.plan, cuts, shown.dtype, fills);
  const Preview preview = preview_of(shown.plan, cuts, {});
  for (std::uint64_t i = 0; i < cuts.frames(); ++i) {
    const Selection selection = preview.of_frame(i);
    if (selection.points() == 0) continue;
    points.take(i, selection, read_points(field, i, selection));
    original.take(i, selection);
  }
  field.expect_unchanged();
  shown.panels = points.panels();
  shown.originals = original.panels();
  return shown;
}

}  // namespace

ShownField read_shown(const ShowOptions& options, Backends& backends, const SideFor& side_for) {
  return is_archive(options.input) ? read_archive(options, backends, side_for)
                                   : read_field(options, side_for);
}

}  // namespace cuszi::app

#include <fmt/format.h>

#include <span>

#include "app/commands/commands.hpp"
#include "app/output/output_file.hpp"
#include "app/output/output_plan.hpp"
#include "app/report/failure.hpp"
#include "app/report/progress.hpp"
#include "app/report/report.hpp"
#include "codec/archive/archive_reader.hpp"
#include "codec/files/input_field.hpp"
#include "codec/files/npy.hpp"
#include "codec/quality/archive_quality.hpp"

namespace cuszi::app {

namespace {

/// Restores one archive and reports.
class Decompression {
 public:
  Decompression(const DecompressOptions& options, Backends& backends, const std::string& archive)
      : options_(options),
        backends_(backends),
        archive_(archive),
        source_(archive),
        reader_(source_),
        preview_(plan(), options.stride, options.box) {}

  std::string default_name() const {
    std::string part = options_.frame ? fmt::format(".frame{}", *options_.frame) : "";
    if (preview_.has_box()) part += ".box";
    if (options_.stride > 1) part += fmt::format(".stride{}", options_.stride);
    const std::string stem = field_stem(archive_);
    if (format_in_name(stem) == Format::npy) {
      return stem.substr(0, stem.rfind('.')) + part + ".restored.npy";
    }
    return stem + part + ".restored." + std::string(name_of(reader_.header().dtype));
  }

  ByteCount field_bytes() const {
    return preview_.dims().count() * size_of(reader_.header().dtype);
  }
  /// Nullopt for a part.
  std::optional<ByteCount> archive_bytes() const {
    return is_part() ? std::nullopt : std::optional(archive_bytes_);
  }

  /// A failure's report goes to `known`.
  void run(const std::string& output, Json& known) {
    OutputFile file(output, archive_, options_.run.force);
    open_original();
    is_npy_ = format_in_name(output) == Format::npy;
    {
      Progress progress(archive_, field_bytes(), !options_.run.quiet);
      restore_to(file, progress);
    }
    file.sync();
    if (original_) original_->expect_unchanged();
    file.commit();
    warn_of_unfinished(reader_, archive_);
    tell(output, known);
  }

 private:
  /// The archive, or the requested frame as a field.
  FieldCuts plan() const {
    const FieldCuts& all = reader_.header().plan;
    return options_.frame && *options_.frame < all.frames() ? all.only(*options_.frame) : all;
  }

  bool is_part() const { return preview_.has_box() || options_.stride > 1; }

  void open_original() {
    if (!options_.original) return;
    const ArchiveHeader& header = reader_.header();
    const FieldLayout layout{header.dtype, header.plan.dims, 0, options_.byte_order};
    original_.emplace(open_alike(*options_.original, layout, header.plan));
    meter_.emplace(*original_, ValueRules{header.fills, {}}, header.value_bound(),
                   Measures::errors_and_fidelity);
    comparison_.emplace(*meter_, *original_, backends_);
    if (!is_part()) comparison_->expect(options_.frame.value_or(0));
  }

  /// A .npy header; the first frame settles a preview's dims.
  void write_header(OutputFile& file) {
    if (!is_npy_ || header_bytes_ != 0) return;
    const std::string header =
        npy_header(reader_.header().dtype, options_.byte_order, preview_.dims());
    file.write(std::as_bytes(std::span(header)));
    header_bytes_ = header.size();
  }

  void restore_to(OutputFile& file, Progress& progress) {
    const FrameUser write = [&](std::uint64_t /*i*/, MutableBytes values) {
      write_header(file);
      to_native(values, reader_.header().dtype, options_.byte_order);
      file.write(values);
      progress.advance(values.size());
    };
    const ArchiveHeader& header = reader_.header();
    const ByteCount frame_bytes = header.plan.frame_dims(0).count() * size_of(header.dtype);
    times_.steps().watch([&](double share) { progress.within(part_of(share, frame_bytes)); });
    FrameUsers users;
    if (comparison_) {
      users.look = [&](const RestoredFrame& frame) {
        comparison_->add(frame, preview_.of_frame(options_.frame ? 0 : frame.index));
      };
    }
    users.use = write;
    users.counts_exceptions = true;
    users.memory_limit = options_.run.memory_limit;
    if (options_.frame) {
      summary_ = restore_frame(backends_, reader_, *options_.frame, preview_, times_, users,
                               archive_bytes_);
    } else {
      users.use_part = part_writer(file, progress);
      summary_ = restore_field(backends_, reader_, preview_, times_, users);
      archive_bytes_ = source_.size().value_or(reader_.bytes_read() + reader_.bytes_skipped());
    }
  }

  /// Empty if parts are needed in order.
  PartUser part_writer(OutputFile& file, Progress& progress) {
    if (is_part() || !file.takes_any_order()) return {};
    write_header(file);
    file.set_size(header_bytes_ + field_bytes());
    return [&](std::uint64_t i, ByteCount offset, MutableBytes values) {
      const ArchiveHeader& header = reader_.header();
      to_native(values, header.dtype, options_.byte_order);
      const ByteCount first = header_bytes_ + header.plan.first_value(i) * size_of(header.dtype);
      file.write_at(first + offset, values);
      progress.advance(values.size());
    };
  }

  void tell(const std::string& output, Json& known) const {
    Report report = report_on(reader_.header(), summary_, archive_bytes_);
    report.input = options_.original;
    report.archive = archive_;
    report.restored = output;
    report.frame = options_.frame;
    report.dims = preview_.dims();
    report.stride = options_.stride;
    report.is_part = is_part();
    report.read_bytes = reader_.bytes_read();
    report.device = backends_.last_name();
    report.decompress_seconds = times_.seconds();
    report.total_seconds = clock_.seconds();
    if (meter_) report.measured = measured_by(*meter_);
    try {
      require_likeness(report.dims);
    } catch (const BoundError&) {
      print_failed(report, options_.run, known, is_standard_stream(output));
      throw;
    }
    print(report, options_.run, is_standard_stream(output));
  }

  void require_likeness(const Dims& dims) const {
    if (!meter_) return;
    require_within_bound(
        *meter_, dims,
        *options_.original +
            " is not the original of this archive, or the restored field is wrong");
  }

  const DecompressOptions& options_;
  Backends& backends_;
  std::string archive_;
  FileSource source_;
  ArchiveReader reader_;
  Preview preview_;
  std::optional<FieldSource> original_;
  std::optional<QualityMeter> meter_;
  std::optional<FrameComparison> comparison_;
  Stopwatch clock_;
  FieldSummary summary_;
  ByteCount archive_bytes_ = 0;
  bool is_npy_ = false;         ///< output format
  ByteCount header_bytes_ = 0;  ///< before the values
  CallTimes times_;
};

/// Throws UsageError for formats that hold more than an archive.
void require_writable_format(const std::string& output) {
  if (format_in_name(output) == Format::npy) return;
  refuse_foreign_name(
      output, "a restored field has no names and attributes",
      "restore to a .npy or raw file, or copy a whole file: cuszi compress file.nc -o copy.nc");
}

}  // namespace

ExitCode execute(const DecompressOptions& options) {
  if (options.original && options.archives.size() > 1) {
    throw UsageError("--compare takes one archive; restore several one by one");
  }
  if (options.frame && options.box != Box{}) {
    throw UsageError("--box and --frame exclude each other; give one of them");
  }
  Backends backends(options.run.device);
  std::vector<std::string> others = options.lists;
  if (options.original) others.push_back(file_of(*options.original));
  OutputPlan outputs(options.archives, options.folders, options.output, others);
  if (options.output) require_writable_format(*options.output);
  choose_device(backends, options.run,
                [&] { return restoration_of(options.archives, options.frame); });
  Totals totals(options.archives.size());
  const FileReports reports{options.run, "archive", outputs.is_stream()};
  const auto decompress = [&](const std::string& archive, Json& known) {
    const Stopwatch clock;
    Decompression decompression(options, backends, archive);
    const std::string output = outputs.claim(archive, decompression.default_name());
    outputs.make_room_for(output);
    decompression.run(output, known);
    totals.add({decompression.field_bytes(), decompression.archive_bytes(), clock.seconds()});
  };
  const ExitCode code = for_each_file(options.archives, reports, decompress);
  totals.tell(options.run);
  tell_losses(backends);
  return code;
}

}  // namespace cuszi::app

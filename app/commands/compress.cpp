#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <map>
#include <utility>

#include "app/commands/commands.hpp"
#include "app/output/output_file.hpp"
#include "app/output/output_plan.hpp"
#include "app/output/removal.hpp"
#include "app/report/failure.hpp"
#include "app/report/progress.hpp"
#include "app/report/report.hpp"
#include "codec/archive/append.hpp"
#include "codec/files/input_field.hpp"
#include "codec/quality/archive_quality.hpp"
#include "codec/quality/target_search.hpp"

namespace cuszi::app {

namespace {

/// Compresses one field and reports.
class Compression {
 public:
  Compression(const CompressOptions& options, Backends& backends, std::string input,
              std::string output)
      : options_(options),
        backends_(backends),
        settings_(options.settings),
        input_(std::move(input)),
        output_(std::move(output)),
        removable_(options.remove_inputs ? std::optional<RemovableInput>(file_of(input_))
                                         : std::nullopt),
        opened_(open_input(input_, options.field, settings_.frame_bytes)) {
    settings_.expected_fills = settings_.fills.count;
    settings_.fill_samples = most_fill_samples;
    settings_.fills = joined(settings_.fills, opened_.fills);
  }

  /// Removes an archive that violates the bound or misses a target. A failure's report goes to
  /// `known`.
  void run(Json& known) {
    std::optional<OutputFile> file;
    if (!options_.append) file.emplace(output_, file_of(input_), options_.run.force);
    {
      Progress progress(input_, bytes_of_work(), !options_.run.quiet);
      plan_reading();
      if (options_.target) {
        compress_to_target(progress);
      } else if (!file || (file->is_stream() && (options_.verify || options_.strict))) {
        compress_to_memory(progress);
      } else if (options_.verify) {
        compress_and_verify(*file, progress);
      } else {
        compress_to(*file, settings_, progress);
      }
    }
    field_.expect_unchanged();
    try {
      finish(file);
    } catch (const Error&) {
      tell(&known);
      throw;
    }
    tell(nullptr);
  }

  ByteCount field_bytes() const { return field_.layout().field_bytes(); }
  ByteCount archive_bytes() const { return result_.archive_bytes; }

 private:
  /// Without a file, appends.
  void finish(std::optional<OutputFile>& file) {
    if (options_.strict) refuse(spoiling(result_.warnings, fill_option));
    if (meter_) {
      require_within_bound(*meter_, field_.layout().dims,
                           "no archive was written; this is a bug, please report it");
      require_same_sides(*meter_, field_.layout().dims);
    }
    if (target_met_ == false && !options_.accepts_missed_target) {
      throw BoundError(fmt::format(
          "target {} not met; no archive was written (--target-miss ok writes the nearest one)",
          to_string(*options_.target)));
    }
    if (!file) return append_member(output_, held_);
    if (!held_.empty()) file->write(held_);
    file->sync();
    field_.expect_unchanged();
    file->commit();
    if (removable_) remove_input(*file);
  }

  /// Whether a warned-of problem may spoil the values.
  bool is_doubtful() const {
    if (!options_.target && settings_.bound == 0) return false;
    const bool needs_range = options_.target || settings_.mode == ErrorMode::relative;
    return looks_swapped_ || (needs_range && !spoiling(result_.warnings, fill_option).empty());
  }

  /// Requires the archive on disk and no doubts.
  void remove_input(const OutputFile& archive) const {
    if (is_doubtful()) {
      throw UsageError(input_ + ": not removed: a warning says that the bound may be meaningless");
    }
    if (!opened_.is_whole)
      throw InputError(input_ + ": not removed: it contains more than its archive");
    if (!archive.is_safe()) {
      throw OutputError(
          fmt::format("{}: not removed: {} cannot be synced to disk", input_, output_));
    }
    field_.expect_unchanged();
    removable_->remove(field_.descriptor());
  }

  /// Each frame counts when compressed, and again when verified.
  ByteCount bytes_of_work() const {
    const bool psnr = options_.target && options_.target->kind == Target::Kind::psnr;
    return (options_.verify || psnr ? 2 : 1) * field_bytes();
  }

  void plan_reading() {
    const bool again = options_.verify || options_.target;  // after compression
    const bool twice = again || settings_.needs_range();
    if (twice && field_.is_stream() && field_.plan().frames() > 1) field_.hold();
    // Other predictors read values to the end; the next frame then reuses their memory.
    const bool drops_values = settings_.frame.predictor.id == PredictorId::multilevel;
    if (!again && drops_values) field_.use_once();
  }

  void compress_to_target(Progress& progress) {
    const Target& target = *options_.target;
    progress.start("trials on samples", 0);
    TargetArchive best = cuszi::compress_to_target(
        target, settings_, backends_.for_config(settings_.frame), field_,
        [&](const FieldSettings& settings, int pass) {
          progress.start(fmt::format("pass {} of at most {}", pass, most_target_passes),
                         bytes_of_work());
          return compress_once(settings, progress);
        });
    result_ = best.result;
    meter_ = best.meter;
    target_met_ = is_met(target, best.reached);
    held_ = std::move(best.archive);
  }

  TargetArchive compress_once(const FieldSettings& settings, Progress& progress) {
    MemorySink archive;
    compress_to(archive, settings, progress);
    TargetArchive attempt{result_, archive.take(), {}};
    if (options_.verify || options_.target->kind == Target::Kind::psnr) {
      MemorySource written(attempt.archive);
      attempt.meter = measure(written, progress);
    }
    return attempt;
  }

  void compress_to(ByteSink& sink, const FieldSettings& settings, Progress& progress) {
    CompressionEvents events;
    std::uint64_t done = 0;
    events.frame_done = [&] { progress.advance(field_.frame_bytes(done++)); };
    compress_times_.steps().watch(
        [&](double share) { progress.within(part_of(share, field_.frame_bytes(done))); });
    events.frame_loaded = [&](const LoadedFrame& frame) {
      if (std::exchange(layout_checked_, true)) return;
      // Values of files may be in a device's memory.
      if (field_.is_stream() && !options_.field.skip_bytes) require_raw(frame.values.bytes());
      const LayoutWarning warning = layout_warning(field_, frame.values.bytes(), settings_.fills);
      looks_swapped_ = warning.values_look_swapped;
      warn_of(warning.text);
    };
    result_ = compress_field(backends_, settings, field_, sink, compress_times_, events);
    compress_times_.steps().watch({});
  }

  /// Irrevocable output is written last.
  void compress_to_memory(Progress& progress) {
    MemorySink archive;
    compress_to(archive, settings_, progress);
    held_ = archive.take();
    if (!options_.verify) return;
    MemorySource written(held_);
    meter_ = measure(written, progress);
  }

  void compress_and_verify(OutputFile& file, Progress& progress) {
    compress_to(file, settings_, progress);
    FileSource written(file.duplicate(), output_);
    meter_ = measure(written, progress);
  }

  QualityMeter measure(ByteSource& archive, Progress& progress) {
    return measure_archive(backends_, archive, field_, settings_.frame.isovalues, decompress_times_,
                           [&](ByteCount bytes) { progress.advance(bytes); });
  }

  /// A failure's JSON goes to `failed`.
  void tell(Json* failed) const {
    Report report = report_on(result_.header, result_.summary, result_.archive_bytes);
    report.input = input_;
    report.archive = output_;
    report.target = options_.target;
    report.target_met = target_met_;
    report.device = backends_.last_name();
    report.compress_seconds = compress_times_.seconds();
    report.total_seconds = clock_.seconds();
    if (meter_) {
      report.measured = measured_by(*meter_);
      report.decompress_seconds = decompress_times_.seconds();
    }
    const bool stdout_has_data = is_standard_stream(output_);
    failed == nullptr ? print(report, options_.run, stdout_has_data)
                      : print_failed(report, options_.run, *failed, stdout_has_data);
    if (target_met_ == false && options_.accepts_missed_target) {
      tell_warning(fmt::format("{}: target {} not met; wrote the nearest archive found", input_,
                               to_string(*options_.target)));
    }
    if (opened_.bytes_behind != 0) {
      spdlog::warn("{}: {} bytes after its array are not in the archive", input_,
                   opened_.bytes_behind);
    }
    for (const FillWarning& warning : result_.warnings) {
      if (options_.strict && warning.spoils_range()) continue;  // part of the error
      spdlog::warn("{}: {}", input_, warning.text(fill_option));
    }
  }

  /// Pipes have no name that shows their format.
  void require_raw(Bytes values) const {
    if (format_in_bytes(values) == Format::raw) return;
    throw UsageError(input_name(input_) +
                     ": is a NumPy, NetCDF or HDF5 file, not raw values: give its name, or "
                     "--skip-bytes to read it as raw");
  }

  /// Ignores an empty text; throws if strict.
  void warn_of(const std::string& text) const {
    if (options_.strict) refuse(text);
    if (!text.empty()) spdlog::warn("{}: {}", input_, text);
  }

  /// Ignores an empty text.
  void refuse(const std::string& text) const {
    if (!text.empty()) throw InputError(input_ + ": " + text);
  }

  const CompressOptions& options_;
  Backends& backends_;
  FieldSettings settings_;
  Stopwatch clock_;
  std::string input_;
  std::string output_;
  std::optional<RemovableInput> removable_;
  InputField opened_;
  FieldSource& field_ = opened_.source;
  CompressedField result_;
  std::vector<std::byte> held_;  ///< the archive until it is written
  CallTimes compress_times_;
  CallTimes decompress_times_;
  std::optional<QualityMeter> meter_;
  std::optional<bool> target_met_;
  bool layout_checked_ = opened_.describes_itself;
  bool looks_swapped_ = false;
};

}  // namespace

ExitCode execute(const CompressOptions& options) {
  if (options.is_copy) return copy_file(options);
  if (options.remove_inputs) require_removable_inputs(options);
  Backends backends(options.run.device);
  std::vector<std::string> files;
  for (const std::string& input : options.inputs) files.push_back(file_of(input));
  std::vector<std::string> others = options.lists;
  if (options.bound_field.path) others.push_back(file_of(*options.bound_field.path));
  OutputPlan outputs(files, options.folders, options.output, others);
  if (options.append) refuse_among(identities_of(files), *options.append);
  if (options.output)
    refuse_foreign_name(*options.output, "the output is an archive", "name it .cuszi");
  std::map<std::string, std::string> output_of;
  for (const std::string& input : options.inputs) {
    const std::string output = options.append
                                   ? *options.append
                                   : outputs.claim(file_of(input), archive_name(field_path(input)));
    if (options.remove_inputs) require_lasting_output(output);
    output_of[input] = output;
  }
  choose_device(backends, options.run, [&] { return compression_of(options); });
  Totals totals(options.inputs.size());
  const FileReports reports{options.run, "input", outputs.is_stream()};
  const auto compress = [&](const std::string& input, Json& known) {
    const Stopwatch clock;
    Compression compression(options, backends, input, output_of.at(input));
    if (!options.append) outputs.make_room_for(output_of.at(input));
    compression.run(known);
    totals.add({compression.field_bytes(), compression.archive_bytes(), clock.seconds()});
  };
  const ExitCode code = for_each_file(options.inputs, reports, compress);
  totals.tell(options.run);
  tell_losses(backends);
  return code;
}

}  // namespace cuszi::app

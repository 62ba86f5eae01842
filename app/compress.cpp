#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <map>
#include <utility>

#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/file_copy.hpp"
#include "app/layout_warning.hpp"
#include "app/output_file.hpp"
#include "app/output_plan.hpp"
#include "app/progress.hpp"
#include "app/report.hpp"
#include "app/totals.hpp"
#include "codec/archive_quality.hpp"
#include "codec/target_passes.hpp"
#include "files/input_field.hpp"

namespace cuszi::app {

namespace {

/// One field on its way to an archive, and what there is to tell of it.
class Compression {
 public:
  Compression(const CompressOptions& options, Backends& backends, std::string input,
              std::string output)
      : options_(options),
        backends_(backends),
        settings_(options.settings),
        backend_(backends.for_config(settings_.frame)),
        input_(std::move(input)),
        output_(std::move(output)),
        opened_(open_input(input_, options.field, settings_.frame_bytes)) {
    settings_.expected_fills = settings_.fills.count;
    settings_.fill_samples = most_fill_samples;
    settings_.fills = joined(settings_.fills, opened_.fills);
  }

  /// Writes the archive; leaves none that has been found to violate the bound.
  void run() {
    OutputFile file(output_, file_of(input_), options_.run.force);
    {
      Progress progress(input_, bytes_of_work(), !options_.run.quiet);
      plan_reading();
      if (options_.target) {
        compress_to_target(file, progress);
      } else if (options_.verify) {
        compress_and_verify(file, progress);
      } else {
        compress_to(file, settings_, progress);
      }
    }
    field_.expect_unchanged();
    if (options_.strict) refuse(spoiling(result_.warnings, fill_option));
    const bool good = !meter_ || !meter_->quality().first_bad;
    if (good) file.commit();
    tell();
    if (!good) {
      require_within_bound(*meter_, field_.layout().dims,
                           "no archive was written; this is a bug, please report it");
    }
  }

  ByteCount field_bytes() const { return field_.layout().field_bytes(); }
  ByteCount archive_bytes() const { return result_.archive_bytes; }
  bool reached_target() const { return target_met_ != false; }

 private:
  /// Of a frame, its bytes count when it has been compressed, and again when it has been verified.
  ByteCount bytes_of_work() const {
    const bool psnr = options_.target && options_.target->kind == Target::Kind::psnr;
    return (options_.verify || psnr ? 2 : 1) * field_bytes();
  }

  void plan_reading() {
    const bool again = options_.verify || options_.target;  // after they have been compressed
    const bool twice = again || settings_.needs_range();
    if (twice && field_.is_stream() && field_.plan().frames() > 1) field_.hold();
    if (!again) field_.use_once();
  }

  void compress_to_target(OutputFile& file, Progress& progress) {
    const Target& target = *options_.target;
    progress.start("trials on samples", 0);
    const TargetArchive best = cuszi::compress_to_target(
        target, settings_, backend_, field_, [&](const FieldSettings& settings, int pass) {
          progress.start(fmt::format("pass {} of at most {}", pass, most_target_passes),
                         bytes_of_work());
          return compress_once(settings, progress);
        });
    result_ = best.result;
    meter_ = best.meter;
    target_met_ = is_met(target, best.reached);
    if (!meter_ || !meter_->quality().first_bad) file.write(best.archive);
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
    events.frame_loaded = [&](const LoadedFrame& /*frame*/) {
      if (!std::exchange(layout_checked_, true)) warn_of(layout_warning(field_, settings_.fills));
    };
    result_ = compress_field(backend_, settings, field_, sink, compress_times_, events);
    compress_times_.steps().watch({});
  }

  void compress_and_verify(OutputFile& file, Progress& progress) {
    if (file.is_stream()) {
      MemorySink archive;
      compress_to(archive, settings_, progress);
      MemorySource written(archive.bytes());
      meter_ = measure(written, progress);
      if (!meter_->quality().first_bad) file.write(archive.bytes());
    } else {
      compress_to(file, settings_, progress);
      FileSource written(file.duplicate(), output_);
      meter_ = measure(written, progress);
    }
  }

  QualityMeter measure(ByteSource& archive, Progress& progress) {
    return measure_archive(backends_, archive, field_, decompress_times_,
                           Measures::errors_and_fidelity,
                           [&](ByteCount bytes) { progress.advance(bytes); });
  }

  void tell() const {
    Report report = report_on(result_.header, result_.summary, result_.archive_bytes);
    report.input = input_;
    report.archive = output_;
    report.target = options_.target;
    report.target_met = target_met_;
    report.device = backend_.name();
    report.compress_seconds = compress_times_.seconds();
    report.total_seconds = clock_.seconds();
    if (meter_) {
      report.measured = measured_by(*meter_);
      report.decompress_seconds = decompress_times_.seconds();
    }
    print(report, options_.run, is_standard_stream(output_));
    if (target_met_ == false) {
      tell_warning(
          fmt::format("{}: the target {} was not met; the archive is the nearest that was found",
                      input_, to_string(*options_.target)));
    }
    for (const FillWarning& warning : result_.warnings) {
      spdlog::warn("{}: {}", input_, warning.text(fill_option));
    }
  }

  /// Warns of what there is, if anything.
  void warn_of(const std::string& text) const {
    if (options_.strict) refuse(text);
    if (!text.empty()) spdlog::warn("{}: {}", input_, text);
  }

  /// Ends with what would be a warning otherwise.
  void refuse(const std::string& text) const {
    if (!text.empty()) throw InputError(input_ + ": " + text);
  }

  const CompressOptions& options_;
  Backends& backends_;
  FieldSettings settings_;
  Backend& backend_;
  Stopwatch clock_;
  std::string input_;
  std::string output_;
  InputField opened_;
  FieldSource& field_ = opened_.source;
  CompressedField result_;
  CallTimes compress_times_;
  CallTimes decompress_times_;
  std::optional<QualityMeter> meter_;
  std::optional<bool> target_met_;
  bool layout_checked_ = opened_.describes_itself;
};

void remove_input(const std::string& input) {
  std::error_code error;
  if (std::filesystem::remove(input, error) && !error) return;
  throw OutputError(input + ": cannot be removed: " + error.message());
}

}  // namespace

ExitCode execute(const CompressOptions& options) {
  if (options.is_copy) return copy_file(options);
  Backends backends(options.run.device);
  std::vector<std::string> files;
  for (const std::string& input : options.inputs) {
    files.push_back(file_of(input));
    if (options.remove_inputs && field_path(input).holds_variables()) {
      throw UsageError(input + ": may hold more than was compressed; leave out --rm");
    }
  }
  OutputPlan outputs(files, options.folders, options.output);
  std::map<std::string, std::string> output_of;
  for (const std::string& input : options.inputs) {
    output_of[input] = outputs.claim(file_of(input), archive_name(field_path(input)));
  }
  Totals totals(options.inputs.size());
  const ExitCode code = for_each_file(options.inputs, [&](const std::string& input) {
    const Stopwatch clock;
    Compression compression(options, backends, input, output_of.at(input));
    compression.run();
    totals.add({compression.field_bytes(), compression.archive_bytes(), clock.seconds()});
    if (options.remove_inputs && compression.reached_target()) remove_input(input);
  });
  totals.tell(options.run);
  return code;
}

}  // namespace cuszi::app

#include <spdlog/spdlog.h>

#include "app/archive_reader.hpp"
#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/field_source.hpp"
#include "app/fill_warning.hpp"
#include "app/measure.hpp"
#include "app/output_file.hpp"
#include "app/output_plan.hpp"
#include "app/progress.hpp"
#include "app/report.hpp"

namespace cuszi::app {

namespace {

/// One field on its way to an archive, and what there is to tell of it.
class Compression {
 public:
  Compression(const CompressOptions& options, Backends& backends, std::string input,
              std::string output)
      : options_(options),
        backends_(backends),
        backend_(backends.for_config(options.settings.frame)),
        input_(std::move(input)),
        output_(std::move(output)),
        field_(open_field(input_, options.field, options.settings.frame_bytes)) {}

  /// Writes the archive; leaves none that has been found to violate the bound.
  void run() {
    OutputFile file(output_, options_.run.force);
    {
      const std::uint64_t frames = field_.plan().frames();
      Progress progress(input_, options_.verify ? 2 * frames : frames, !options_.run.quiet);
      hold_if_read_twice();
      if (options_.verify) {
        compress_and_verify(file, progress);
      } else {
        compress_to(file, progress);
      }
    }
    const bool good = !meter_ || !meter_->quality().first_bad;
    if (good) file.commit();
    tell();
    if (!good) {
      require_within_bound(*meter_, field_.layout().dims,
                           "no archive was written; this is a bug, please report it");
    }
  }

 private:
  void hold_if_read_twice() {
    const bool twice = options_.verify || options_.settings.needs_range();
    if (twice && field_.is_stream() && field_.plan().frames() > 1) field_.hold();
  }

  void compress_to(ByteSink& sink, Progress& progress) {
    CompressionEvents events;
    events.frame_done = [&] { progress.advance(); };
    if (options_.settings.fills.count == 0) {
      events.frame_loaded = [&](const LoadedFrame& frame) {
        if (!suspect_) suspect_ = suspected_fill_value(backend_, frame);
      };
    }
    result_ = compress_field(backend_, options_.settings, field_, sink, compress_times_, events);
  }

  void compress_and_verify(OutputFile& file, Progress& progress) {
    if (file.is_stream()) {
      MemorySink archive;
      compress_to(archive, progress);
      MemorySource written(archive.bytes());
      verify(written, progress);
      if (!meter_->quality().first_bad) file.write(archive.bytes());
    } else {
      compress_to(file, progress);
      FileSource written(file.temporary_path());
      verify(written, progress);
    }
  }

  void verify(ByteSource& archive, Progress& progress) {
    ArchiveReader reader(archive);
    meter_.emplace(field_, reader.header().fills, reader.header().bound_absolute);
    restore_field(backends_, reader, decompress_times_, [&](std::uint64_t i, Bytes values) {
      meter_->add(i, values);
      progress.advance();
    });
  }

  void tell() const {
    Report report = report_on(result_.header, result_.summary, result_.archive_bytes);
    report.input = input_;
    report.archive = output_;
    report.device = backend_.name();
    report.compress_seconds = compress_times_.seconds();
    report.total_seconds = clock_.seconds();
    if (meter_) {
      report.measured = {meter_->quality(), meter_->bound()};
      report.decompress_seconds = decompress_times_.seconds();
    }
    print(report, options_.run, is_standard_stream(output_) ? stderr : stdout);
    if (suspect_) {
      spdlog::warn(
          "{}: {} repeats far outside the other values; if it means missing, give "
          "--fill-value {}",
          input_, *suspect_, *suspect_);
    }
  }

  const CompressOptions& options_;
  Backends& backends_;
  Backend& backend_;
  Stopwatch clock_;
  std::string input_;
  std::string output_;
  FieldSource field_;
  CompressedField result_;
  CallTimes compress_times_;
  CallTimes decompress_times_;
  std::optional<QualityMeter> meter_;
  std::optional<std::string> suspect_;
};

}  // namespace

ExitCode execute(const CompressOptions& options) {
  Backends backends(options.run.device);
  OutputPlan outputs(options.inputs, options.output);
  return for_each_file(options.inputs, [&](const std::string& input) {
    const std::string output = outputs.claim(input, input + ".cuszi");
    Compression(options, backends, input, output).run();
  });
}

}  // namespace cuszi::app

#include <fmt/format.h>

#include "app/cli/standard_streams.hpp"
#include "app/commands/commands.hpp"
#include "app/output/output_plan.hpp"
#include "app/report/failure.hpp"
#include "app/report/progress.hpp"
#include "app/report/report.hpp"
#include "codec/archive/archive_reader.hpp"

namespace cuszi::app {

namespace {

/// Restores without output, with all checks.
Report restored(const std::string& archive, Backends& backends, const RunOptions& run) {
  const Stopwatch clock;
  FileSource source(archive);
  ArchiveReader reader(source);
  const FieldCuts& plan = reader.header().plan;
  Progress progress(archive, plan.dims.count() * size_of(reader.header().dtype), !run.quiet);
  CallTimes times;
  FrameUsers forget;
  forget.look = [&](const RestoredFrame& frame) { progress.advance(frame.values.size()); };
  forget.counts_exceptions = true;
  forget.memory_limit = run.memory_limit;
  const FieldSummary summary = restore_field(backends, reader, times, forget);
  warn_of_unfinished(reader, archive);
  Report report = report_on(reader.header(), summary, reader.bytes_read() + reader.bytes_skipped());
  report.archive = archive;
  report.device = backends.last_name();
  report.decompress_seconds = times.seconds();
  report.total_seconds = clock.seconds();
  return report;
}

std::string line_on(const Report& report) {
  return fmt::format("{}: good, format {}, {} {}, {}, ratio {:.2f}, {}\n", *report.archive,
                     format_version, report.dims.to_string(), name_of(report.dtype),
                     bytes_text(report.field_bytes()), *ratio_of(report),
                     rate_text(report.field_bytes(), *report.total_seconds));
}

}  // namespace

ExitCode execute(const TestOptions& options) {
  refuse_among(identities_of(options.archives), "-");
  refuse_among(identities_of(options.lists), "-");
  Backends backends(options.run.device);
  choose_device(backends, options.run, [&] { return restoration_of(options.archives); });
  Totals totals(options.archives.size());
  const auto test = [&](const std::string& archive, Json& /*known*/) {
    const Report report = restored(archive, backends, options.run);
    totals.add({report.field_bytes(), report.archive_bytes, report.total_seconds});
    if (options.run.json) {
      Json json = to_json(report);
      json["format_version"] = format_version;
      print_out(line_of(json));
    } else if (!options.run.quiet) {
      print_out(line_on(report));
    }
  };
  const ExitCode code = for_each_file(options.archives, {options.run}, test);
  totals.tell(options.run);
  tell_losses(backends);
  return code;
}

}  // namespace cuszi::app

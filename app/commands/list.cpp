#include <fmt/format.h>

#include "app/cli/json.hpp"
#include "app/cli/standard_streams.hpp"
#include "app/commands/commands.hpp"
#include "app/output/output_plan.hpp"
#include "app/report/failure.hpp"
#include "app/report/report.hpp"
#include "codec/archive/archive_reader.hpp"

namespace cuszi::app {

namespace {

/// From header and tables; payloads are not read.
Report listed(const std::string& archive) {
  FileSource source(archive);
  ArchiveReader reader(source);
  FieldSummary summary;
  for (std::uint64_t i = 0; i < reader.frames(); ++i) {
    const ArchiveFrame frame =
        reader.next_frame([](const ArchiveFrame&) { return std::size_t{0}; });
    summary.add(frame.header, frame.shape.points(), 0, 0);
  }
  reader.finish();
  warn_of_unfinished(reader, archive);
  Report report = report_on(reader.header(), summary, reader.bytes_read() + reader.bytes_skipped());
  report.archive = archive;
  return report;
}

Json json_of(const Report& report) {
  Json json = to_json(report);
  for (const char* unread : {"outliers", "patches", "lossless"}) json[unread] = nullptr;
  return json;
}

constexpr const char* columns = "{:>10} {:>10} {:>8} {:>4} {:<18} {:>11} {:>9} {:<18} {}\n";

std::string heading() {
  return fmt::format(columns, "field", "archive", "ratio", "type", "dims", "bound", "missing",
                     "coding", "archive");
}

std::string asked_text(const AskedBound& asked) {
  const std::string text = fmt::format("{} {:.3g}", name_of(asked.mode), asked.bound);
  return has_two_bounds(asked.mode) ? fmt::format("{}, {:.3g}", text, asked.share) : text;
}

std::string line_on(const Report& report) {
  return fmt::format(
      columns, bytes_text(report.field_bytes()), bytes_text(*report.archive_bytes),
      fmt::format("{:.2f}", *ratio_of(report)), name_of(report.dtype), report.dims.to_string(),
      report.has_bound() ? asked_text(*report.asked) : "none", report.summary->masked,
      report.summary->predictor + " + " + report.summary->coder, *report.archive);
}

}  // namespace

ExitCode execute(const ListOptions& options) {
  refuse_among(identities_of(options.archives), "-");
  refuse_among(identities_of(options.lists), "-");
  Totals totals(options.archives.size());
  if (!options.run.json) print_out(heading());
  const auto list = [&](const std::string& archive, Json& /*known*/) {
    const Report report = listed(archive);
    totals.add({report.field_bytes(), report.archive_bytes, std::nullopt});
    print_out(options.run.json ? line_of(json_of(report)) : line_on(report));
  };
  const ExitCode code = for_each_file(options.archives, {options.run}, list);
  totals.tell(options.run);
  return code;
}

}  // namespace cuszi::app

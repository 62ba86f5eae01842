#include <fmt/format.h>

#include "app/cli/standard_streams.hpp"
#include "app/commands/commands.hpp"
#include "app/output/output_file.hpp"
#include "app/output/output_plan.hpp"
#include "app/report/failure.hpp"
#include "app/report/report.hpp"
#include "codec/archive/zfp_import_export.hpp"

namespace cuszi::app {

namespace {

/// x.cuszi becomes x.zfp.
std::string stream_name(const std::string& archive) {
  constexpr std::string_view ending = ".cuszi";
  const std::string stem =
      archive.ends_with(ending) ? archive.substr(0, archive.size() - ending.size()) : archive;
  return stem.ends_with(".zfp") ? stem : stem + ".zfp";
}

Json json_of(const ZfpExport& made, const std::string& archive, const std::string& output) {
  const ZfpHeader& header = made.header;
  return {{"archive", archive},
          {"stream", output},
          {"dtype", name_of(header.scalar)},
          {"dims", header.dims.extents()},
          {"min_bits", header.params.min_bits},
          {"max_bits", header.params.max_bits},
          {"max_precision", header.params.max_precision},
          {"min_exponent", header.params.min_exponent},
          {"stream_bytes", made.bytes},
          {"patches", made.patches}};
}

void tell(const ZfpExport& made, const ZfpExportOptions& options, const std::string& output) {
  if (options.run.quiet && !options.run.json) return;
  const std::string text = options.run.json
                               ? line_of(json_of(made, options.archive, output))
                               : fmt::format("{} -> {}\n  {:<11} {} {}, {}\n", options.archive,
                                             output, "stream", made.header.dims.to_string(),
                                             name_of(made.header.scalar), bytes_text(made.bytes));
  is_standard_stream(output) ? print_error(text) : print_out(text);
}

void make_stream(const ZfpExportOptions& options, const std::string& output) {
  FileSource source(options.archive);
  ArchiveReader reader(source);
  OutputFile file(output, options.archive, options.run.force);
  const ZfpExport made = export_zfp(reader, file);
  file.commit();
  tell(made, options, output);
  if (made.patches != 0) {
    tell_warning(fmt::format(
        "{}: {} values that the archive stores exactly have zfp's approximation in the stream",
        output, made.patches));
  }
}

}  // namespace

ExitCode execute(const ZfpExportOptions& options) {
  OutputPlan outputs({options.archive}, {}, options.output);
  if (options.output)
    refuse_foreign_name(*options.output, "the output is a zfp stream", "name it .zfp");
  const std::string output = outputs.claim(options.archive, stream_name(options.archive));
  const FileReports reports{options.run, "archive", outputs.is_stream()};
  return for_each_file({options.archive}, reports, [&](const auto& /*archive*/, Json& /*known*/) {
    outputs.make_room_for(output);
    make_stream(options, output);
  });
}

}  // namespace cuszi::app

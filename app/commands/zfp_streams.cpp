#include <fmt/format.h>

#include "app/cli/standard_streams.hpp"
#include "app/commands/commands.hpp"
#include "app/output/output_file.hpp"
#include "app/output/output_plan.hpp"
#include "app/report/failure.hpp"
#include "app/report/report.hpp"
#include "codec/archive/zfp_import_export.hpp"
#include "codec/io/byte_source.hpp"

namespace cuszi::app {

namespace {

/// Calls make(output). `name` is the output's if none is given.
template <class Make>
ExitCode convert(const std::string& input, const char* kind, const std::string& name,
                 const std::optional<std::string>& given, const RunOptions& run, const Make& make) {
  OutputPlan outputs({input}, {}, given);
  const std::string output = outputs.claim(input, name);
  const FileReports reports{run, kind, outputs.is_stream()};
  return for_each_file({input}, reports, [&](const auto& /*input*/, Json& /*known*/) {
    outputs.make_room_for(output);
    make(output);
  });
}

/// "-" is standard input.
std::vector<std::byte> read_all(const std::string& path) {
  constexpr ByteCount piece = ByteCount{1} << 20;
  FileSource source(path);
  std::vector<std::byte> bytes(source.size().value_or(piece));
  std::size_t filled = source.read(bytes);
  while (!source.size() && filled == bytes.size()) {
    bytes.resize(2 * bytes.size());
    filled += source.read(MutableBytes(bytes).subspan(filled));
  }
  source.expect_unchanged();
  bytes.resize(filled);
  return bytes;
}

void make_archive(const ZfpImportOptions& options, const std::string& output) {
  const Stopwatch clock;
  OutputFile file(output, options.input, options.run.force);
  const CompressedField result = import_zfp(read_all(options.input), options.how, file);
  file.sync();
  file.commit();
  Report report = report_on(result.header, result.summary, result.archive_bytes);
  report.input = options.input;
  report.archive = output;
  report.total_seconds = clock.seconds();
  print(report, options.run, is_standard_stream(output));
}

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
  file.sync();
  file.commit();
  tell(made, options, output);
  if (made.patches != 0) {
    tell_warning(fmt::format(
        "{}: {} values that the archive stores exactly have zfp's approximation in the stream",
        output, made.patches));
  }
}

}  // namespace

ExitCode execute(const ZfpImportOptions& options) {
  if (options.output)
    refuse_foreign_name(*options.output, "the output is an archive", "name it .cuszi");
  return convert(options.input, "input", options.input + ".cuszi", options.output, options.run,
                 [&](const std::string& output) { make_archive(options, output); });
}

ExitCode execute(const ZfpExportOptions& options) {
  if (options.output)
    refuse_foreign_name(*options.output, "the output is a zfp stream", "name it .zfp");
  return convert(options.archive, "archive", stream_name(options.archive), options.output,
                 options.run, [&](const std::string& output) { make_stream(options, output); });
}

}  // namespace cuszi::app

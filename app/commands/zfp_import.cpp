#include <fmt/format.h>

#include "app/cli/standard_streams.hpp"
#include "app/commands/commands.hpp"
#include "app/output/output_file.hpp"
#include "app/output/output_plan.hpp"
#include "app/report/failure.hpp"
#include "app/report/report.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

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
  file.commit();
  Report report = report_on(result.header, result.summary, result.archive_bytes);
  report.input = options.input;
  report.archive = output;
  report.total_seconds = clock.seconds();
  print(report, options.run, is_standard_stream(output));
}

}  // namespace

ExitCode execute(const ZfpImportOptions& options) {
  OutputPlan outputs({options.input}, {}, options.output);
  if (options.output)
    refuse_foreign_name(*options.output, "the output is an archive", "name it .cuszi");
  const std::string output = outputs.claim(options.input, options.input + ".cuszi");
  const FileReports reports{options.run, "input", outputs.is_stream()};
  return for_each_file({options.input}, reports, [&](const auto& /*input*/, Json& /*known*/) {
    outputs.make_room_for(output);
    make_archive(options, output);
  });
}

}  // namespace cuszi::app

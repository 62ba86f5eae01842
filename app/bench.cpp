#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "app/archive_reader.hpp"
#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/field_source.hpp"
#include "app/report.hpp"

namespace cuszi::app {

namespace {

/// The runs of one kind of work.
class Runs {
 public:
  void add(CallTimes times) { runs_.push_back(std::move(times)); }

  /// The run that took the median time; the faster of two.
  const CallTimes& median() {
    const auto middle = runs_.begin() + static_cast<std::ptrdiff_t>((runs_.size() - 1) / 2);
    std::nth_element(
        runs_.begin(), middle, runs_.end(),
        [](const CallTimes& a, const CallTimes& b) { return a.seconds() < b.seconds(); });
    return *middle;
  }

 private:
  std::vector<CallTimes> runs_;
};

struct Measurement {
  Report report;
  CallTimes copy;
  CallTimes compress;
  CallTimes decompress;
};

CallTimes time_copy(FieldSource& field, Buffer& buffer) {
  CallTimes times;
  for (std::uint64_t i = 0; i < field.plan().frames(); ++i) {
    const Bytes values = field.frame(i);
    const MutableBytes to = buffer.resize(values.size());
    times.measure([&] { std::memcpy(to.data(), values.data(), values.size()); });
  }
  return times;
}

Measurement measure(const BenchOptions& options, Backends& backends, const std::string& input) {
  Backend& backend = backends.for_config(options.settings.frame);
  FieldSource field = open_field(input, options.field, options.settings.frame_bytes);
  field.hold();
  Buffer buffer;
  time_copy(field, buffer);  // the memory's pages come into being
  Runs copy;
  Runs compress;
  Runs decompress;
  CompressedField result;
  for (int i = 0; i < options.iterations; ++i) {
    copy.add(time_copy(field, buffer));
    MemorySink archive;
    CallTimes compress_times;
    result = compress_field(backend, options.settings, field, archive, compress_times);
    compress.add(compress_times);
    MemorySource source(archive.bytes());
    ArchiveReader reader(source);
    CallTimes decompress_times;
    restore_field(backends, reader, decompress_times, [](std::uint64_t, MutableBytes) {});
    decompress.add(decompress_times);
  }
  Measurement all{report_on(result.header, result.summary, result.archive_bytes), copy.median(),
                  compress.median(), decompress.median()};
  all.report.input = input;
  all.report.device = backend.name();
  all.report.compress_seconds = all.compress.seconds();
  all.report.decompress_seconds = all.decompress.seconds();
  return all;
}

Json json_of(const Measurement& all) {
  Json json = to_json(all.report);
  json["copy_seconds"] = all.copy.seconds();
  json["copy_gb_per_s"] = gb_per_s(all.report.field_bytes(), all.copy.seconds()).value_or(0);
  const auto steps = [](const CallTimes& times) {
    Json by_name = Json::object();
    for (const auto& step : times.steps().steps()) by_name[std::string(step.name)] = step.seconds;
    return by_name;
  };
  json["compress_steps"] = steps(all.compress);
  json["decompress_steps"] = steps(all.decompress);
  return json;
}

std::string text_of(const Measurement& all, int iterations) {
  const ByteCount bytes = all.report.field_bytes();
  std::string text = to_text(all.report);
  text += fmt::format("  median of {}:\n", iterations);
  const auto add = [&](const std::string& what, double seconds) {
    text += fmt::format("    {:<16} {:>9.3f} GB/s {:>12.6f} s\n", what,
                        gb_per_s(bytes, seconds).value_or(0), seconds);
  };
  const auto add_steps = [&](const std::string& what, const CallTimes& times) {
    add(what, times.seconds());
    for (const auto& step : times.steps().steps()) add("  " + std::string(step.name), step.seconds);
  };
  add("plain copy", all.copy.seconds());
  add_steps("compress", all.compress);
  add_steps("decompress", all.decompress);
  return text;
}

}  // namespace

ExitCode execute(const BenchOptions& options) {
  Backends backends(options.run.device);
  return for_each_file(options.inputs, [&](const std::string& input) {
    const Measurement all = measure(options, backends, input);
    fmt::print("{}", options.run.json ? line_of(json_of(all)) : text_of(all, options.iterations));
    std::fflush(stdout);
  });
}

}  // namespace cuszi::app

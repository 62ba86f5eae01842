#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/cli/options.hpp"
#include "app/cli/standard_streams.hpp"
#include "app/commands/commands.hpp"
#include "app/output/output_plan.hpp"
#include "app/report/failure.hpp"
#include "app/report/report.hpp"
#include "bench/measure/workbench.hpp"
#include "codec/archive/archive_reader.hpp"
#include "codec/archive/field_codec.hpp"
#include "codec/files/input_field.hpp"

namespace cuszi::app {

namespace {

struct Measurement {
  Report report;
  double file_compress_seconds = 0;
  double file_decompress_seconds = 0;
  Runs copy;
  Runs compress;
  Runs decompress;
  std::optional<CallTimes> compress_steps;  ///< each step was awaited
  std::optional<CallTimes> decompress_steps;
};

/// Greatest plausible speed over one thread's copy. A faster step does not read the field, and gets
/// no speed.
double most_over_copy(bool on_device) {
  constexpr double of_a_thread = 4;
  return of_a_thread * (on_device ? 1 : std::max(std::thread::hardware_concurrency(), 1U));
}

/// Sizes the device's memory.
int warm_up_runs(Backend& backend) { return backend.transfer() != nullptr ? 2 : 0; }

/// From a file to an archive and back, in scratch files.
struct FileTrip {
  CompressedField field;
  double compress_seconds = 0;    ///< from opening the field
  double decompress_seconds = 0;  ///< from opening the archive
};

/// Without fsync.
FileTrip make_file_trip(const BenchOptions& options, Backends& backends, const std::string& input) {
  FileTrip trip;
  CallTimes times;
  ScratchFile archive;
  {
    const Stopwatch clock;
    FieldSource field = open_input(input, options.field, options.settings.frame_bytes).source;
    trip.field = compress_field(backends, options.settings, field, archive, times);
    trip.compress_seconds = clock.seconds();
  }
  const Stopwatch clock;
  FileSource source(archive.path());
  ArchiveReader reader(source);
  ScratchFile restored;
  const ArchiveHeader& header = reader.header();
  restored.set_size(header.plan.dims.count() * size_of(header.dtype));
  const auto place = [&](std::uint64_t i) {
    return header.plan.first_value(i) * size_of(header.dtype);
  };
  const FrameUser write = [&](std::uint64_t i, MutableBytes values) {
    restored.write_at(place(i), values);
  };
  const PartUser write_part = [&](std::uint64_t i, ByteCount offset, MutableBytes values) {
    restored.write_at(place(i) + offset, values);
  };
  restore_field(backends, reader, times, {write, write_part});
  trip.decompress_seconds = clock.seconds();
  return trip;
}

CompressedField measure_file_trips(const BenchOptions& options, Backends& backends,
                                   const std::string& input, Measurement& all) {
  const int warm_up = warm_up_runs(backends.for_config(options.settings.frame));
  std::vector<double> compress;
  std::vector<double> decompress;
  CompressedField result;
  for (int i = -warm_up; i < options.iterations; ++i) {
    const FileTrip trip = make_file_trip(options, backends, input);
    if (i < 0) continue;
    compress.push_back(trip.compress_seconds);
    decompress.push_back(trip.decompress_seconds);
    result = trip.field;
  }
  all.file_compress_seconds = median_of(compress);
  all.file_decompress_seconds = median_of(decompress);
  return result;
}

/// Times of all frames.
struct FieldRun {
  CallTimes copy;
  CallTimes compress;
  CallTimes decompress;
};

void run_frames(Workbench& bench, const FieldSettings& settings, const CompressedField& known,
                FieldSource& field, FieldRun& run, QualityMeter* meter) {
  const ValueBound bound = known.header.value_bound();
  std::optional<ChosenMethod> first;
  const FrameAdvice of_first{{}, [&](const ChosenMethod& chosen) { first = chosen; }};
  const FrameAdvice of_others{[&] { return first ? &*first : nullptr; }, {}};
  for (std::uint64_t i = 0; i < field.plan().frames(); ++i) {
    const FrameShape shape{field.layout().dtype, field.plan().frame_dims(i)};
    bench.put(shape, field.frame(i), asked_of_frame(settings, field.plan(), i, known.range));
    bench.copy(run.copy);
    const FrameReport frame =
        bench.compress(settings, bound, run.compress, i == 0 ? of_first : of_others);
    bench.restore(shape, bench.archive(), run.decompress);
    if (meter == nullptr) continue;
    const auto bounds = bench.bounds(frame.header);
    meter->add(i, Selection{shape.dims}, bench.restored(), bounds ? &*bounds : nullptr);
  }
}

/// In memory, on the first device; measures quality, too. `known` is the result between files.
void measure_in_memory(const BenchOptions& options, Backend& backend, const CompressedField& known,
                       FieldSource& field, Measurement& all) {
  Workbench bench(backend);
  const auto run_once = [&](FieldRun& run, QualityMeter* meter) {
    run_frames(bench, options.settings, known, field, run, meter);
  };
  const ArchiveHeader& header = known.header;
  QualityMeter meter(field, {header.fills, options.settings.frame.isovalues}, header.value_bound());
  const int warm_up = warm_up_runs(backend);
  for (int i = -warm_up; i < options.iterations; ++i) {
    FieldRun run;
    run_once(run, i + 1 == options.iterations ? &meter : nullptr);
    if (i < 0) continue;
    all.copy.add(std::move(run.copy));
    all.compress.add(std::move(run.compress));
    all.decompress.add(std::move(run.decompress));
  }
  all.report.measured = measured_by(meter);
  if (warm_up == 0) return;
  FieldRun synchronized{CallTimes(), bench.synchronized_times(), bench.synchronized_times()};
  run_once(synchronized, nullptr);
  all.compress_steps = std::move(synchronized.compress);
  all.decompress_steps = std::move(synchronized.decompress);
}

Measurement measure(const BenchOptions& options, Backends& backends, const std::string& input) {
  Measurement all;
  const CompressedField result = measure_file_trips(options, backends, input, all);
  Backend& backend = backends.for_config(options.settings.frame);
  all.report = report_on(result.header, result.summary, result.archive_bytes);
  all.report.input = input;
  all.report.device = backends.last_name();
  FieldSource field = open_input(input, options.field, options.settings.frame_bytes).source;
  field.hold();
  measure_in_memory(options, backend, result, field, all);
  all.report.compress_seconds = all.compress.median().seconds();
  all.report.decompress_seconds = all.decompress.median().seconds();
  return all;
}

const StepTimes& compress_steps(Measurement& all) {
  return (all.compress_steps ? *all.compress_steps : all.compress.median()).steps();
}

const StepTimes& decompress_steps(Measurement& all) {
  return (all.decompress_steps ? *all.decompress_steps : all.decompress.median()).steps();
}

Json json_of(Measurement& all) {
  Json json = to_json(all.report);
  const auto add = [&](const std::string& what, double seconds) {
    json[what + "_seconds"] = seconds;
    json[what + "_gb_per_s"] = or_null(gb_per_s(all.report.field_bytes(), seconds));
  };
  add("copy", all.copy.median().seconds());
  add("file_compress", all.file_compress_seconds);
  add("file_decompress", all.file_decompress_seconds);
  const auto steps = [](const StepTimes& times) {
    Json by_name = Json::object();
    for (const auto& step : times.steps()) by_name[std::string(step.name)] = step.seconds;
    return by_name;
  };
  json["compress_steps"] = steps(compress_steps(all));
  json["decompress_steps"] = steps(decompress_steps(all));
  return json;
}

std::string text_of(Measurement& all, int iterations) {
  const ByteCount bytes = all.report.field_bytes();
  std::string text = to_text(all.report);
  text += fmt::format("  median of {}:\n", iterations);
  const auto add_line = [&](const std::string& what, const std::string& rate, double seconds) {
    text += fmt::format("    {:<24} {:>14} {:>12.6f} s\n", what, rate, seconds);
  };
  const auto add = [&](const std::string& what, double seconds) {
    add_line(what, rate_text(bytes, seconds), seconds);
  };
  const double copy_seconds = all.copy.median().seconds();
  const double least_seconds = copy_seconds / most_over_copy(all.compress_steps.has_value());
  const auto add_steps = [&](const StepTimes& times) {
    for (const auto& [name, seconds] : times.steps()) {
      const bool reads_field = seconds >= least_seconds;
      add_line("  " + std::string(name), reads_field ? rate_text(bytes, seconds) : "-", seconds);
    }
  };
  add("plain copy", copy_seconds);
  add("compress", all.compress.median().seconds());
  add_steps(compress_steps(all));
  add("decompress", all.decompress.median().seconds());
  add_steps(decompress_steps(all));
  add("file to archive", all.file_compress_seconds);
  add("archive to file", all.file_decompress_seconds);
  return text;
}

/// Adds the file's fill values.
BenchOptions options_for(const std::string& input, const BenchOptions& asked) {
  BenchOptions options = asked;
  if (field_path(input).holds_variables()) {
    options.settings.fills = joined(asked.settings.fills, open_input(input, asked.field).fills);
  }
  return options;
}

}  // namespace

ExitCode execute(const BenchOptions& options) {
  std::vector<std::string> files(options.inputs.size());
  std::ranges::transform(options.inputs, files.begin(), file_of);
  if (options.bound_field.path) files.push_back(file_of(*options.bound_field.path));
  refuse_among(identities_of(files), "-");
  Backends backends(options.run.device);
  const FileReports reports{options.run, "input"};
  const auto bench = [&](const std::string& input, Json& /*known*/) {
    const BenchOptions own = options_for(input, options);
    Measurement measured = measure(own, backends, input);
    print_out(own.run.json ? line_of(json_of(measured)) : text_of(measured, own.iterations));
  };
  const ExitCode code = for_each_file(options.inputs, reports, bench);
  tell_losses(backends);
  return code;
}

}  // namespace cuszi::app

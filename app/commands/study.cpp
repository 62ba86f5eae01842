#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "app/cli/names.hpp"
#include "app/commands/commands.hpp"
#include "app/report/report.hpp"
#include "bench/measure/median.hpp"
#include "bench/measure/workbench.hpp"
#include "codec/files/input_field.hpp"
#include "codec/settings/limits.hpp"
#include "cpu_ref/session/cpu_backend.hpp"

namespace cuszi::app {

namespace {

/// Median time of some steps together.
class StepMedian {
 public:
  explicit StepMedian(std::initializer_list<std::string_view> steps) : steps_(steps) {}

  void add(const CallTimes& times) {
    double seconds = 0;
    for (const StepTimes::Step& step : times.steps().steps()) {
      if (std::ranges::find(steps_, step.name) != steps_.end()) seconds += step.seconds;
    }
    seconds_.push_back(seconds);
  }

  /// 0 without such steps, as in constant frames.
  double seconds() { return median_of(seconds_); }

 private:
  std::vector<std::string_view> steps_;
  std::vector<double> seconds_;
};

ByteCount section_bytes(const FrameHeader& header, SectionId id) {
  ByteCount bytes = 0;
  for (const LevelEntry& level : header.levels) {
    for (const SectionEntry& section : level.sections) bytes += section.id == id ? section.size : 0;
  }
  return bytes;
}

/// The first frame on a backend.
class FrameStudy {
 public:
  FrameStudy(Study study, const BenchOptions& options, Backends& backends, const std::string& input)
      : options_(options),
        bench_(backends.for_config(options.settings.frame)),
        field_(open_input(input, options.field, options.settings.frame_bytes).source),
        shape_{field_.layout().dtype, field_.plan().frame_dims(0)} {
    const FrameConfig& config = options.settings.frame;
    if (study == Study::zfp_index && config.predictor.id != PredictorId::zfp) {
      throw UsageError("--study zfp-index needs --preset zfp");
    }
    if (study != Study::zfp_index && config.coder != CoderId::huffman) {
      throw UsageError("--study needs the coder huffman, like that of --preset cuszi or cusz");
    }
    const ValueRange range = range_of_frame();
    bench_.put(shape_, field_.frame(0), asked_of_frame(options.settings, field_.plan(), 0, range));
    bound_ = value_bound(options.settings.asked(), range);
  }

  const FrameShape& shape() const { return shape_; }
  bool on_device() const { return bench_.backend().transfer() != nullptr; }

  /// Sets the median time of encoding.
  FrameReport compress(const FrameConfig& config, int runs, double& encode_seconds) {
    const auto own = own_bound(config.predictor);
    const ValueBound bound = own ? ValueBound(*own) : bound_;
    FieldSettings settings = options_.settings;
    settings.frame = config;
    FrameReport report;
    StepMedian encode({"encode"});
    const int warm_up = on_device() ? 1 : 0;
    for (int i = -warm_up; i < runs; ++i) {
      CallTimes times = bench_.synchronized_times();
      report = bench_.compress(settings, bound, times);
      if (i >= 0) encode.add(times);
    }
    encode_seconds = encode.seconds();
    return report;
  }

  /// Median, on this or another backend, of the last archive.
  double decode_seconds(Workbench& bench, int runs) const {
    std::vector<std::byte> host(bench_.archive().size());
    Bytes archive = bench_.archive();
    if (&bench != &bench_) {
      bench_.backend().copy(archive, host);
      archive = host;
    }
    StepMedian decode({"decode", "place"});  // part of decoding for some coders
    for (int i = 0; i < runs; ++i) {
      CallTimes times = bench.synchronized_times();
      bench.restore(shape_, archive, times);
      decode.add(times);
    }
    return decode.seconds();
  }

  ByteCount archive_bytes() const { return bench_.archive().size(); }
  Workbench& bench() { return bench_; }

 private:
  ValueRange range_of_frame() {
    if (options_.settings.range) return *options_.settings.range;
    ValueRange range;
    StepTimes times;
    const LoadedFrame frame = load_frame(bench_.backend(), options_.settings.frame, shape_,
                                         field_.frame(0), options_.settings.fills, times);
    const FieldScan& scan = frame.scan();
    if (scan.missing < shape_.points()) range.add(scan.min, scan.max);
    return range;
  }

  const BenchOptions& options_;
  Workbench bench_;
  FieldSource field_;
  FrameShape shape_;
  ValueBound bound_ = 0.0;
};

Json huffman_row(FrameStudy& study, const FrameConfig& config, int runs) {
  Json row;
  row["symbols"] = 2 * config.predictor.radius.value();
  row["unit_bits"] = config.huffman.width == HuffmanWidth::u32 ? 32 : 64;
  row["merge"] = config.huffman.merge ? Json(*config.huffman.merge) : Json(nullptr);
  row["bits_per_symbol"] = nullptr;
  row["encode_seconds"] = nullptr;
  row["encode_gb_per_s"] = nullptr;
  try {
    double seconds = 0;
    const FrameReport report = study.compress(config, runs, seconds);
    const FrameShape& shape = study.shape();
    row["bits_per_symbol"] = 8 *
                             static_cast<double>(section_bytes(report.header, SectionId::codes)) /
                             static_cast<double>(shape.points());
    row["encode_seconds"] = seconds;
    row["encode_gb_per_s"] = or_null(gb_per_s(shape.bytes(), seconds));
  } catch (const UsageError&) {
    // Codewords are too long for the unit: the row stays empty.
  }
  return row;
}

Json study_huffman(FrameStudy& study, const BenchOptions& options) {
  Json rows = Json::array();
  for (const std::uint32_t symbols : {256U, 1024U, 4096U, 16384U, 65536U}) {
    for (const HuffmanWidth width : {HuffmanWidth::u32, HuffmanWidth::u64}) {
      FrameConfig config = options.settings.frame;
      config.predictor.radius = symbols / 2;
      config.huffman.width = width;
      if (!study.on_device()) {
        rows.push_back(huffman_row(study, config, options.iterations));
        continue;
      }
      for (int merge = 0; merge <= 4; ++merge) {
        config.huffman.merge = merge;
        rows.push_back(huffman_row(study, config, options.iterations));
      }
    }
  }
  return rows;
}

/// Calls add(kind, chunk, partition).
template <class Add>
void for_indexes(std::uint32_t chunk, const BenchOptions& options, const Add& add) {
  const std::uint32_t partition_asked = options.settings.frame.index.partition;
  add(IndexKind::offset, chunk, partition_asked);
  add(IndexKind::length, chunk, partition_asked);
  for (const std::uint32_t partition : {8U, 32U, 128U}) add(IndexKind::hybrid, chunk, partition);
}

/// `chunk` is for streams with chunks.
Json index_row(FrameStudy& study, Workbench& cpu, const FrameConfig& config,
               std::optional<std::uint32_t> chunk, const BenchOptions& options) {
  double encode_seconds = 0;
  const FrameReport report = study.compress(config, 1, encode_seconds);
  const auto index = static_cast<double>(section_bytes(report.header, SectionId::index));
  const auto rest = static_cast<double>(study.archive_bytes()) - index;
  const auto field = static_cast<double>(study.shape().bytes());
  Json row;
  row["index"] = name_of(config.index.kind);
  row["chunk"] = chunk ? Json(*chunk) : Json(nullptr);
  row["partition"] =
      config.index.kind == IndexKind::hybrid ? Json(config.index.partition) : Json(nullptr);
  row["overhead"] = index / rest;
  row["ratio"] = field / rest;
  row["effective_ratio"] = field / (rest + index);
  // A single thread decodes everything.
  const bool is_slow =
      config.index.kind == IndexKind::none && config.predictor.id != PredictorId::zfp;
  const int runs = is_slow ? 1 : options.iterations;
  const auto speed = [&](Workbench& bench) {
    return or_null(gb_per_s(study.shape().bytes(), study.decode_seconds(bench, runs)));
  };
  row["cpu_decode_gb_per_s"] = speed(cpu);
  row["device_decode_gb_per_s"] = study.on_device() ? speed(study.bench()) : Json(nullptr);
  return row;
}

/// All indexes for each chunk size, by set(config, chunk).
template <class Set>
void add_index_rows(FrameStudy& study, Workbench& cpu, const BenchOptions& options,
                    std::initializer_list<std::uint32_t> chunks, const Set& set, Json& rows) {
  FrameConfig config = options.settings.frame;
  const auto add = [&](IndexKind kind, std::uint32_t chunk, std::uint32_t partition) {
    config.index = {kind, partition};
    set(config, chunk);
    rows.push_back(index_row(study, cpu, config, chunk, options));
  };
  for (const std::uint32_t chunk : chunks) for_indexes(chunk, options, add);
}

Json study_index(FrameStudy& study, const BenchOptions& options) {
  const std::unique_ptr<Backend> backend = cpu::make_backend();
  Workbench cpu(*backend);
  FrameConfig config = options.settings.frame;
  config.index.kind = IndexKind::none;
  Json rows = Json::array();
  rows.push_back(index_row(study, cpu, config, std::nullopt, options));
  const auto set = [](FrameConfig& some, std::uint32_t chunk) { some.huffman.chunk = chunk; };
  add_index_rows(study, cpu, options, {256, 1024, 4096, 16384}, set, rows);
  return rows;
}

Json study_zfp_index(FrameStudy& study, const BenchOptions& options) {
  const std::unique_ptr<Backend> backend = cpu::make_backend();
  Workbench cpu(*backend);
  Json rows = Json::array();
  const auto set = [](FrameConfig& some, std::uint32_t chunk) { some.predictor.zfp.chunk = chunk; };
  add_index_rows(study, cpu, options, {1, 4, 16, 64, 256}, set, rows);

  FrameConfig config = options.settings.frame;
  double seconds = 0;
  const FrameReport variable = study.compress(config, 1, seconds);
  const auto bytes = static_cast<double>(section_bytes(variable.header, SectionId::codes));
  config.index.kind = IndexKind::none;
  config.predictor.zfp.mode = {ZfpMode::Kind::rate,
                               8 * bytes / static_cast<double>(study.shape().points())};
  rows.push_back(index_row(study, cpu, config, std::nullopt, options));
  rows.back()["index"] = "fixed rate";
  return rows;
}

std::string cell_text(const Json& cell) {
  if (cell.is_null()) return "-";
  if (cell.is_string()) return cell.get<std::string>();
  return cell.is_number_float() ? fmt::format("{:.4g}", cell.get<double>()) : cell.dump();
}

}  // namespace

Json run_study(Study study, const BenchOptions& options, Backends& backends,
               const std::string& input) {
  FrameStudy frame(study, options, backends, input);
  switch (study) {
    case Study::huffman: return study_huffman(frame, options);
    case Study::index: return study_index(frame, options);
    case Study::zfp_index: break;
  }
  return study_zfp_index(frame, options);
}

std::string table_of(const Json& rows) {
  std::string text;
  if (rows.empty()) return text;
  for (const auto& [key, cell] : rows.front().items()) text += fmt::format("  {:>15}", key);
  text += '\n';
  for (const Json& row : rows) {
    for (const auto& [key, cell] : row.items()) {
      text += fmt::format("  {:>{}}", cell_text(cell), std::max<std::size_t>(key.size(), 15));
    }
    text += '\n';
  }
  return text;
}

}  // namespace cuszi::app

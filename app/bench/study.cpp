#include "app/bench/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "app/bench/median.hpp"
#include "app/bench/workbench.hpp"
#include "app/names.hpp"
#include "app/report.hpp"
#include "cpu_ref/cpu_backend.hpp"
#include "files/input_field.hpp"

namespace cuszi::app {

namespace {

/// The median over runs of the time of one step.
class StepMedian {
 public:
  explicit StepMedian(std::string_view step) : step_(step) {}

  void add(const CallTimes& times) {
    for (const StepTimes::Step& step : times.steps().steps()) {
      if (step.name == step_) seconds_.push_back(step.seconds);
    }
  }

  double seconds() { return median_of(seconds_); }

 private:
  std::string_view step_;
  std::vector<double> seconds_;
};

ByteCount section_bytes(const FrameHeader& header, SectionId id) {
  ByteCount bytes = 0;
  for (const LevelEntry& level : header.levels) {
    for (const SectionEntry& section : level.sections) bytes += section.id == id ? section.size : 0;
  }
  return bytes;
}

/// A field's first frame on the workbench of a backend.
class FrameStudy {
 public:
  FrameStudy(const BenchOptions& options, Backends& backends, const std::string& input)
      : options_(options),
        bench_(backends.for_config(options.settings.frame)),
        field_(open_input(input, options.field, options.settings.frame_bytes).source),
        shape_{field_.layout().dtype, field_.plan().frame_dims(0)} {
    if (options.settings.frame.coder != CoderId::huffman) {
      throw UsageError("--study is about the coder huffman; choose --preset cuszi or cusz");
    }
    bench_.put(shape_, field_.frame(0));
    bound_ = absolute_bound(options.settings.bound, options.settings.mode, range());
  }

  const FrameShape& shape() const { return shape_; }
  bool on_device() const { return bench_.backend().transfer() != nullptr; }

  /// Compresses by these settings and tells the median time of encoding.
  FrameReport compress(const FrameConfig& config, int runs, double& encode_seconds) {
    FieldSettings settings = options_.settings;
    settings.frame = config;
    FrameReport report;
    StepMedian encode("encode");
    const int warm_up = on_device() ? 1 : 0;
    for (int i = -warm_up; i < runs; ++i) {
      CallTimes times = bench_.settled_times();
      report = bench_.compress(settings, bound_, times);
      if (i >= 0) encode.add(times);
    }
    encode_seconds = encode.seconds();
    return report;
  }

  /// The median time of decoding what was compressed last, by the bench of this or another backend.
  double decode_seconds(Workbench& bench, int runs) const {
    std::vector<std::byte> host(bench_.archive().size());
    Bytes archive = bench_.archive();
    if (&bench != &bench_) {
      bench_.backend().copy(archive, host);
      archive = host;
    }
    StepMedian decode("decode");
    for (int i = 0; i < runs; ++i) {
      CallTimes times = bench.settled_times();
      bench.restore(shape_, archive, times);
      decode.add(times);
    }
    return decode.seconds();
  }

  ByteCount archive_bytes() const { return bench_.archive().size(); }
  Workbench& bench() { return bench_; }

 private:
  ValueRange range() {
    if (options_.settings.range) return *options_.settings.range;
    ValueRange range;
    StepTimes times;
    const LoadedFrame frame = load_frame(bench_.backend(), options_.settings.frame, shape_,
                                         field_.frame(0), options_.settings.fills, times);
    if (frame.scan.missing < shape_.points()) range.add(frame.scan.min, frame.scan.max);
    return range;
  }

  const BenchOptions& options_;
  Workbench bench_;
  FieldSource field_;
  FrameShape shape_;
  double bound_ = 0;
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
    row["encode_gb_per_s"] = gb_per_s(shape.bytes(), seconds).value_or(0);
  } catch (const UsageError&) {
    // The longest codeword does not fit the unit: the row stays empty.
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

Json index_row(FrameStudy& study, Workbench& cpu, const FrameConfig& config,
               const BenchOptions& options) {
  double encode_seconds = 0;
  const FrameReport report = study.compress(config, 1, encode_seconds);
  const auto index = static_cast<double>(section_bytes(report.header, SectionId::index));
  const auto rest = static_cast<double>(study.archive_bytes()) - index;
  const auto field = static_cast<double>(study.shape().bytes());
  Json row;
  row["index"] = name_in(index_names, config.index.kind);
  row["chunk"] = config.index.kind == IndexKind::none ? Json(nullptr) : Json(config.huffman.chunk);
  row["partition"] =
      config.index.kind == IndexKind::hybrid ? Json(config.index.partition) : Json(nullptr);
  row["overhead"] = index / rest;
  row["ratio"] = field / rest;
  row["effective_ratio"] = field / (rest + index);
  // One thread that decodes everything takes its time.
  const int runs = config.index.kind == IndexKind::none ? 1 : options.iterations;
  const auto speed = [&](Workbench& bench) {
    return gb_per_s(study.shape().bytes(), study.decode_seconds(bench, runs)).value_or(0);
  };
  row["cpu_decode_gb_per_s"] = speed(cpu);
  row["device_decode_gb_per_s"] = study.on_device() ? Json(speed(study.bench())) : Json(nullptr);
  return row;
}

Json study_index(FrameStudy& study, const BenchOptions& options) {
  const std::unique_ptr<Backend> backend = cpu::make_backend();
  Workbench cpu(*backend);
  Json rows = Json::array();
  FrameConfig config = options.settings.frame;
  const auto add = [&](IndexKind kind, std::uint32_t chunk, std::uint32_t partition) {
    config.index = {kind, partition};
    config.huffman.chunk = chunk;
    rows.push_back(index_row(study, cpu, config, options));
  };
  const std::uint32_t partition_asked = options.settings.frame.index.partition;
  add(IndexKind::none, config.huffman.chunk, partition_asked);
  for (const std::uint32_t chunk : {256U, 1024U, 4096U, 16384U}) {
    add(IndexKind::offset, chunk, partition_asked);
    add(IndexKind::length, chunk, partition_asked);
    for (const std::uint32_t partition : {8U, 32U, 128U}) add(IndexKind::hybrid, chunk, partition);
  }
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
  FrameStudy frame(options, backends, input);
  return study == Study::huffman ? study_huffman(frame, options) : study_index(frame, options);
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

// Variants of the Huffman coder, and of the side-channel index of Huffman and zfp, on the first
// frame of a field. Prints a table of tab-separated values.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/workbench.hpp"
#include "codec/field/field_source.hpp"
#include "codec/frames/backend_choice.hpp"
#include "codec/settings/presets.hpp"
#include "core/base/error.hpp"
#include "core/field/bound.hpp"
#include "cpu_ref/session/cpu_backend.hpp"

namespace cuszi::bench {

namespace {

struct Asked {
  std::string field;
  double bound = 0;  ///< relative to the value range
  Preset preset;
  bool encode = false;  ///< else the index
  int runs = 3;
  DeviceChoice device;
};

/// Median time of some steps together.
class StepMedian {
 public:
  explicit StepMedian(std::vector<std::string_view> steps) : steps_(std::move(steps)) {}

  void add(const CallTimes& times) {
    double seconds = 0;
    for (const StepTimes::Step& step : times.steps().steps()) {
      if (std::ranges::find(steps_, step.name) != steps_.end()) seconds += step.seconds;
    }
    seconds_.push_back(seconds);
  }

  /// GB/s; "-" without such steps, as in constant frames.
  std::string speed(ByteCount bytes) {
    const double seconds = median_of(seconds_);
    return seconds > 0 ? fmt::format("{:.4g}", 1e-9 * static_cast<double>(bytes) / seconds) : "-";
  }

 private:
  std::vector<std::string_view> steps_;
  std::vector<double> seconds_;
};

double section_bytes(const FrameHeader& header, SectionId id) {
  ByteCount bytes = 0;
  for (const LevelEntry& level : header.levels) {
    for (const SectionEntry& section : level.sections) bytes += section.id == id ? section.size : 0;
  }
  return static_cast<double>(bytes);
}

/// The first frame of a field on a backend.
class FirstFrame {
 public:
  FirstFrame(const Asked& asked, Backend& backend)
      : runs_(asked.runs),
        bench_(backend),
        field_(open_field(asked.field, {})),
        shape_{field_.layout().dtype, field_.plan().frame_dims(0)} {
    apply(asked.preset, config_);
    const Bytes values = field_.frame(0);
    bench_.put(shape_, values);
    StepTimes times;
    const LoadedFrame frame = load_frame(backend, config_, shape_, values, {}, times);
    bound_ = asked.bound * (frame.scan().max - frame.scan().min);
  }

  const FrameShape& shape() const { return shape_; }
  const FrameConfig& config() const { return config_; }
  bool on_device() const { return bench_.backend().transfer() != nullptr; }

  FrameReport compress(const FrameConfig& config, StepMedian& encode) {
    FieldSettings settings;
    settings.mode = ErrorMode::absolute;
    settings.frame = config;
    FrameReport report;
    const ValueBound bound = own_bound(config.predictor).value_or(bound_);
    const int warm_up = on_device() ? 1 : 0;
    for (int i = -warm_up; i < runs_; ++i) {
      CallTimes times = bench_.synchronized_times();
      report = bench_.compress(settings, bound, times);
      if (i >= 0) encode.add(times);
    }
    return report;
  }

  /// Speed for the last archive, on this or another backend.
  std::string decoding_speed(Workbench& bench, int runs) const {
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
    return decode.speed(shape_.bytes());
  }

  int runs() const { return runs_; }
  double archive_bytes() const { return static_cast<double>(bench_.archive().size()); }
  Workbench& bench() { return bench_; }

 private:
  int runs_;
  Workbench bench_;
  FieldSource field_;
  FrameShape shape_;
  FrameConfig config_;
  double bound_ = 0;
};

void print_encoding(FirstFrame& frame, const FrameConfig& config) {
  StepMedian encode({"encode"});
  std::string bits = "-";
  std::string speed = "-";
  try {
    const FrameReport report = frame.compress(config, encode);
    const double codes = section_bytes(report.header, SectionId::codes);
    bits = fmt::format("{:.3f}", 8 * codes / static_cast<double>(frame.shape().points()));
    speed = encode.speed(frame.shape().bytes());
  } catch (const UsageError&) {
    // Codewords are too long for the unit.
  }
  fmt::print("{}\t{}\t{}\t{}\t{}\n", 2 * config.predictor.radius.value(),
             config.huffman.width == HuffmanWidth::u32 ? 32 : 64,
             config.huffman.merge ? std::to_string(*config.huffman.merge) : "-", bits, speed);
}

/// Codeword units, numbers of symbols, and on a device merge factors (Tian et al., PACT'20, 3.2.2;
/// IPDPS'21, table II).
void measure_encoding(FirstFrame& frame) {
  fmt::print("symbols\tunit\tr\tbits per symbol\tGB/s\n");
  FrameConfig config = frame.config();
  for (const std::uint32_t symbols : {256U, 1024U, 4096U, 16384U, 65536U}) {
    for (const HuffmanWidth width : {HuffmanWidth::u32, HuffmanWidth::u64}) {
      config.predictor.radius = symbols / 2;
      config.huffman.width = width;
      if (!frame.on_device()) print_encoding(frame, config);
      for (int merge = 0; frame.on_device() && merge <= 4; ++merge) {
        config.huffman.merge = merge;
        print_encoding(frame, config);
      }
    }
  }
}

/// Variants of the index of Huffman or zfp.
class IndexTable {
 public:
  explicit IndexTable(FirstFrame& frame) : frame_(frame), config_(frame.config()) {}

  /// Encodings, chunk sizes C and partitions P: size f of the index relative to the rest, ratio
  /// R / (1 + f), decoding speed (Noordsij 2019, 4.6, 5).
  void print() {
    fmt::print("index\tC\tP\tf\tR / (1 + f)\tCPU GB/s\tdevice GB/s\n");
    if (is_zfp()) {
      for (const std::uint32_t chunk : {1U, 4U, 16U, 64U, 256U}) print_chunk(chunk);
      print_fixed_rate();
      return;
    }
    config_.index.kind = IndexKind::none;
    print_row("none", "-", 1);  // a single thread decodes everything
    for (const std::uint32_t chunk : {256U, 1024U, 4096U, 16384U}) print_chunk(chunk);
  }

 private:
  bool is_zfp() const { return config_.predictor.id == PredictorId::zfp; }

  void print_chunk(std::uint32_t chunk) {
    if (is_zfp()) config_.predictor.zfp.chunk = chunk;
    config_.huffman.chunk = chunk;
    const std::string text = std::to_string(chunk);
    config_.index = {IndexKind::offset, 32};
    print_row("offset", text, frame_.runs());
    config_.index.kind = IndexKind::length;
    print_row("length", text, frame_.runs());
    for (const std::uint32_t partition : {8U, 32U, 128U}) {
      config_.index = {IndexKind::hybrid, partition};
      print_row("hybrid", text, frame_.runs());
    }
  }

  /// A stream without an index, of the others' size without theirs.
  void print_fixed_rate() {
    StepMedian ignored({});
    const FrameReport variable = frame_.compress(config_, ignored);
    const double codes = section_bytes(variable.header, SectionId::codes);
    config_.index.kind = IndexKind::none;
    config_.predictor.zfp.mode = {ZfpMode::Kind::rate,
                                  8 * codes / static_cast<double>(frame_.shape().points())};
    print_row("fixed rate", "-", frame_.runs());
  }

  void print_row(std::string_view name, const std::string& chunk, int runs) {
    StepMedian ignored({});
    const FrameReport report = frame_.compress(config_, ignored);
    const double index = section_bytes(report.header, SectionId::index);
    const double rest = frame_.archive_bytes() - index;
    const bool has_partitions = config_.index.kind == IndexKind::hybrid;
    fmt::print("{}\t{}\t{}\t{:.4f}\t{:.2f}\t{}\t{}\n", name, chunk,
               has_partitions ? std::to_string(config_.index.partition) : "-", index / rest,
               static_cast<double>(frame_.shape().bytes()) / (rest + index),
               frame_.decoding_speed(cpu_, runs),
               frame_.on_device() ? frame_.decoding_speed(frame_.bench(), runs) : "-");
  }

  FirstFrame& frame_;
  FrameConfig config_;
  std::unique_ptr<Backend> backend_ = cpu::make_backend();
  Workbench cpu_{*backend_};
};

constexpr std::string_view usage =
    "coder_bench FIELD BOUND cuszi|cusz|zfp encode|index [RUNS] [cpu]";

Asked read_arguments(const std::vector<std::string>& words) {
  const std::map<std::string, Preset> known{
      {"cuszi", cuszi_preset}, {"cusz", cusz_preset}, {"zfp", zfp_preset}};
  if (words.size() < 4 || !known.contains(words[2])) throw UsageError(std::string(usage));
  Asked asked{words[0], std::stod(words[1]), known.at(words[2]), words[3] == "encode", 3, {}};
  if (!asked.encode && words[3] != "index") throw UsageError(std::string(usage));
  if (asked.encode && asked.preset.coder != CoderId::huffman) {
    throw UsageError("encode is of the coder huffman; choose cuszi or cusz");
  }
  if (words.size() > 4) asked.runs = std::stoi(words[4]);
  if (asked.runs < 1) throw UsageError(fmt::format("RUNS {}: at least 1", asked.runs));
  if (words.size() > 5 && words[5] == "cpu") asked.device.kind = DeviceChoice::Kind::cpu;
  return asked;
}

void measure(const Asked& asked) {
  Backends backends(asked.device);
  FrameConfig config;
  apply(asked.preset, config);
  FirstFrame frame(asked, backends.for_config(config));
  if (asked.encode) {
    measure_encoding(frame);
  } else {
    IndexTable(frame).print();
  }
}

}  // namespace

}  // namespace cuszi::bench

int main(int argc, char** argv) {
  try {
    cuszi::bench::measure(cuszi::bench::read_arguments({argv + 1, argv + argc}));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "coder_bench: {}\n", error.what());
    return 1;
  }
}

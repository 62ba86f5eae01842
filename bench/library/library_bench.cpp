// The library and the HDF5 filter beside the tool's in-memory times (`cuszi bench`), interleaved,
// so that other load affects all alike.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "bench/measure/workbench.hpp"
#include "codec/field/field_source.hpp"
#include "codec/frames/frame_scheduler.hpp"
#include "codec/settings/presets.hpp"
#include "core/base/error.hpp"
#include "core/base/unmovable.hpp"
#include "cuszi/cuszi.h"
#ifdef CUSZI_HAS_HDF5
#include <H5PLextern.h>
#include <hdf5.h>

#include <stdexcept>
#include <vector>

#include "bindings/hdf5/chunk_settings.hpp"
#endif

namespace cuszi::bench {

namespace {

/// In the order of cuszi_preset.
constexpr std::array<std::string_view, presets.size()> preset_names{"ratio", "cuszi", "cusz",
                                                                    "fast",  "zfp",   "balanced"};

/// Least wall and CPU time.
class Least {
 public:
  template <class Work>
  void measure(const Work& work) {
    const Stopwatch clock;
    const std::clock_t start = std::clock();
    work();
    const auto ticks = static_cast<double>(std::clock() - start);
    elapsed_ = std::min(elapsed_, clock.seconds());
    processors_ = std::min(processors_, ticks / CLOCKS_PER_SEC);
  }

  std::string compared_to(const Least& other) const {
    return fmt::format("{:10.3f} {:+7.1f} % {:12.3f} {:+7.1f} %", 1e3 * elapsed_,
                       100 * (elapsed_ / other.elapsed_ - 1), 1e3 * processors_,
                       100 * (processors_ / other.processors_ - 1));
  }

 private:
  double elapsed_ = std::numeric_limits<double>::infinity();
  double processors_ = std::numeric_limits<double>::infinity();
};

struct Times {
  Least tool;
  Least library;
  std::optional<Least> filter;

  void print(const char* what) const {
    const auto line = [&](const char* who, const Least& least) {
      fmt::print("{:<11} {:<12} {}\n", what, who, least.compared_to(tool));
    };
    line("tool", tool);
    line("C API", library);
    if (filter) line("HDF5 filter", *filter);
  }
};

struct Asked {
  std::string field;
  double bound = 0;  ///< relative
  std::uint32_t preset = 0;
  int runs = 0;
  DeviceChoice device;
};

/// The C API, in the backend's memory.
class Library : Unmovable {
 public:
  Library(const Asked& asked, const FrameShape& shape, Bytes values, Backend& backend)
      : context_(::cuszi_context_create()) {
    const auto extents = shape.dims.extents();
    field_.dtype = shape.dtype == DType::f32 ? CUSZI_F32 : CUSZI_F64;
    field_.rank = shape.dims.rank();
    std::copy(extents.begin(), extents.end(), std::begin(field_.dims));
    options_.bound = asked.bound;
    options_.preset = static_cast<std::int32_t>(asked.preset);
    Transfer* const transfer = backend.transfer();
    options_.device = transfer != nullptr ? CUSZI_DEVICE_CUDA : CUSZI_DEVICE_CPU;
    values_ = values;
    const ByteCount room = ::cuszi_bound(&field_, &options_);
    if (transfer == nullptr) {
      archive_ = archive_room_.resize(room);
      restored_ = restored_room_.resize(values.size());
      return;
    }
    const MutableBytes there = transfer->memory(first_kept_buffer, values.size());
    backend.copy(values, there);
    values_ = there;
    archive_ = transfer->memory(first_kept_buffer + 1, room);
    restored_ = transfer->memory(first_kept_buffer + 2, values.size());
  }
  ~Library() { ::cuszi_context_destroy(context_); }

  void compress() {
    check(::cuszi_compress(context_, &options_, &field_, values_.data(), archive_.data(),
                           archive_.size(), &size_));
  }

  void decompress() {
    check(::cuszi_decompress(context_, &options_, archive_.data(), size_, restored_.data(),
                             restored_.size()));
  }

 private:
  void check(cuszi_status status) const {
    if (status != CUSZI_OK) throw UsageError(::cuszi_last_error(context_));
  }

  cuszi_context* context_;
  cuszi_field field_{};
  cuszi_options options_ = cuszi_default_options();
  Buffer archive_room_;
  Buffer restored_room_;
  Bytes values_;
  MutableBytes archive_;
  MutableBytes restored_;
  std::size_t size_ = 0;
};

#ifdef CUSZI_HAS_HDF5

template <class Result>
Result check(Result result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string("HDF5 cannot ") + what);
  return result;
}

hid_t chunk_properties(const std::vector<hsize_t>& extents, double bound, std::uint32_t preset) {
  hdf5::ChunkSettings settings;
  settings.bound = bound;
  settings.preset = preset;
  const hdf5::ChunkSettings::Numbers numbers = settings.write();
  const hid_t properties = check(H5Pcreate(H5P_DATASET_CREATE), "make properties");
  check(H5Pset_chunk(properties, static_cast<int>(extents.size()), extents.data()), "set a chunk");
  check(H5Pset_filter(properties, CUSZI_H5_FILTER, H5Z_FLAG_MANDATORY, numbers.size(),
                      numbers.data()),
        "set the filter");
  return properties;
}

/// An in-memory HDF5 file with one dataset of one filtered chunk.
class ChunkFile : Unmovable {
 public:
  /// `preset` is a cuszi_preset. All functions throw std::runtime_error.
  ChunkFile(const FrameShape& shape, double bound, std::uint32_t preset)
      : type_(shape.dtype == DType::f32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE) {
    check(H5Zregister(H5PLget_plugin_info()), "take the filter");
    const hid_t in_memory = check(H5Pcreate(H5P_FILE_ACCESS), "make properties");
    constexpr std::size_t grows_by = std::size_t{64} << 20;
    check(H5Pset_fapl_core(in_memory, grows_by, false), "keep a file in memory");
    file_ =
        check(H5Fcreate("library_bench.h5", H5F_ACC_TRUNC, H5P_DEFAULT, in_memory), "make a file");
    H5Pclose(in_memory);
    const std::vector<hsize_t> extents(shape.dims.extents().begin(), shape.dims.extents().end());
    const hid_t space =
        check(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
              "make a space");
    const hid_t properties = chunk_properties(extents, bound, preset);
    dataset_ = check(H5Dcreate2(file_, "chunk", type_, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                     "make a dataset");
    H5Pclose(properties);
    H5Sclose(space);
  }
  ~ChunkFile() {
    H5Dclose(dataset_);
    H5Fclose(file_);
  }

  /// Flushes the chunk.
  void write(Bytes values) const {
    check(H5Dwrite(dataset_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write");
    check(H5Dflush(dataset_), "write");
  }

  void read(MutableBytes values) const {
    check(H5Dread(dataset_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "read");
  }

 private:
  hid_t type_;
  hid_t file_ = -1;
  hid_t dataset_ = -1;
};

#endif

/// A field of one frame, like a chunk.
struct Field {
  explicit Field(const std::string& path) : source(open_field(path, {})) {
    if (source.plan().frames() != 1) throw UsageError(path + ": is too large; give one frame");
  }

  FrameShape shape() const { return {source.layout().dtype, source.layout().dims}; }

  FieldSource source;
};

double absolute(Backend& backend, const FieldSettings& settings, const FrameShape& shape,
                Bytes values) {
  StepTimes times;
  const LoadedFrame frame = load_frame(backend, settings.frame, shape, values, {}, times);
  return settings.bound * (frame.scan().max - frame.scan().min);
}

void measure(const Asked& asked) {
  FieldSettings settings;
  settings.bound = asked.bound;
  apply(presets.at(asked.preset), settings.frame);
  Field field(asked.field);
  const FrameShape shape = field.shape();
  const Bytes values = field.source.frame(0);
  Backends backends(asked.device);
  Backend& backend = backends.for_config(settings.frame);
  const double bound = absolute(backend, settings, shape, values);
  Workbench tool(backend);
  tool.put(shape, values);
  Library library(asked, shape, values, backend);
  Times compressing;
  Times restoring;
  CallTimes steps;
#ifdef CUSZI_HAS_HDF5
  std::optional<ChunkFile> file;
  Buffer read;
  if (backend.transfer() == nullptr) {  // chunks are in host memory
    file.emplace(shape, bound, asked.preset);
    compressing.filter.emplace();
    restoring.filter.emplace();
    read.resize(values.size());
  }
#endif
  for (int run = 0; run < asked.runs; ++run) {
    compressing.tool.measure([&] { tool.compress(settings, bound, steps); });
    compressing.library.measure([&] { library.compress(); });
    restoring.tool.measure([&] { tool.restore(shape, tool.archive(), steps); });
    restoring.library.measure([&] { library.decompress(); });
#ifdef CUSZI_HAS_HDF5
    if (!file) continue;
    compressing.filter->measure([&] { file->write(values); });
    restoring.filter->measure([&] { file->read(read.view()); });
#endif
  }
  fmt::print("{}: {}, {:g}, {}, least of {}\n", asked.field, preset_names.at(asked.preset),
             asked.bound, backend.name(), asked.runs);
  fmt::print("{:<24} {:>10} {:>9} {:>12}\n", "", "ms", "", "CPU ms");
  compressing.print("compress");
  restoring.print("decompress");
}

Asked read_arguments(int argc, char** argv) {
  if (argc < 4) {
    throw UsageError("library_bench FIELD BOUND PRESET [RUNS] [cpu]: a field of one frame");
  }
  Asked asked{argv[1], std::stod(argv[2]), 0, argc > 4 ? std::stoi(argv[4]) : 15, {}};
  const auto* const preset = std::find(preset_names.begin(), preset_names.end(), argv[3]);
  if (preset == preset_names.end()) {
    throw UsageError(
        fmt::format("PRESET {} is none of {}", argv[3], fmt::join(preset_names, ", ")));
  }
  asked.preset = static_cast<std::uint32_t>(preset - preset_names.begin());
  if (argc > 5 && std::string_view(argv[5]) == "cpu") asked.device.kind = DeviceChoice::Kind::cpu;
  return asked;
}

}  // namespace

}  // namespace cuszi::bench

int main(int argc, char** argv) {
  try {
    cuszi::bench::measure(cuszi::bench::read_arguments(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "library_bench: {}\n", error.what());
    return 1;
  }
}

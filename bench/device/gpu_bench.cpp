// Device-resident speed of the CUDA backend, and equality with the CPU.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "core/base/unmovable.hpp"
#include "core/field/bound.hpp"
#include "core/field/stored_type.hpp"
#include "core/pipeline/pipeline.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "cuszi/gpu.hpp"
#include "gpu/runtime/device.hpp"

namespace cuszi {

namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class DeviceBuffer : Unmovable {
 public:
  explicit DeviceBuffer(ByteCount size) : size_(size) {
    gpu::check(cudaMalloc(&memory_, size), "allocate");
  }
  ~DeviceBuffer() { cudaFree(memory_); }
  MutableBytes bytes() const { return {static_cast<std::byte*>(memory_), size_}; }

 private:
  void* memory_ = nullptr;
  ByteCount size_;
};

struct Run {
  Dims dims;
  DType dtype = DType::f32;
  PredictorId predictor = PredictorId::lorenzo;
  bool automatic = false;  ///< lorenzo and Huffman by trials
  double bound = 1e-3;
  Effort effort = Effort::normal;
  bool compare = false;
  bool bound_is_known = false;  ///< skips the range
  bool bound_is_share = false;  ///< of each value
  Lossless lossless = Lossless::none;
  ZfpMode zfp;  ///< a rate has no bound
  std::string field;

  bool has_rate() const { return zfp.kind == ZfpMode::Kind::rate; }
};

/// Returns the frame's size.
ByteCount compress(Backend& backend, const Run& run, Bytes values, const Allocate& allocate,
                   StepTimes& times) {
  FrameConfig config;
  config.predictor.id = run.predictor;
  config.predictor.automatic = run.automatic;
  config.predictor.multilevel.effort = run.effort;
  if (run.predictor == PredictorId::multilevel) config.coder = CoderId::ans;
  config.lossless = run.lossless;
  config.predictor.zfp.mode = run.zfp;
  const FrameShape shape{run.dtype, run.dims};
  ByteCount made = 0;
  const Allocate counted = [&](ByteCount size) {
    made = size;
    return allocate(size);
  };
  LoadedFrame frame = load_frame(backend, config, shape, values, {}, times);
  ValueBound bound = run.has_rate() ? no_bound : run.bound;
  if (run.bound_is_share) {
    bound = ValueBound::of_share(run.bound);
  } else if (!run.bound_is_known && !run.has_rate()) {
    const FieldScan& scan =
        times.measure("scan", [&]() -> const FieldScan& { return frame.scan(); });
    bound.bound *= scan.max - scan.min;
  }
  compress_frame(backend, config, std::move(frame), bound, {counted}, times);
  return made;
}

/// From a relative bound.
double absolute(Backend& backend, const Run& run, Bytes values) {
  StepTimes times;
  FrameConfig config;
  config.predictor.id = run.predictor;
  const LoadedFrame frame = load_frame(backend, config, {run.dtype, run.dims}, values, {}, times);
  return run.bound * (frame.scan().max - frame.scan().min);
}

void print_steps(const char* what, const StepTimes& times, int runs) {
  std::printf("    %s:", what);
  for (const auto& step : times.steps()) {
    std::printf(" %.*s %.3f", static_cast<int>(step.name.size()), step.name.data(),
                1e3 * step.seconds / runs);
  }
  std::printf(" ms\n");
}

void compare_with_cpu(const Run& run, Bytes values, Bytes archive, Bytes restored) {
  const auto cpu = cpu::make_backend();
  std::vector<std::byte> expected;
  StepTimes times;
  compress(
      *cpu, run, values,
      [&](ByteCount size) {
        expected.resize(size);
        return MutableBytes(expected);
      },
      times);
  const bool same = expected.size() == archive.size() &&
                    std::equal(expected.begin(), expected.end(), archive.begin());
  std::vector<std::byte> back(values.size());
  decompress_frame(*cpu, {run.dtype, run.dims}, expected, back, times);
  std::printf("    archive %s the CPU's, values %s\n", same ? "EQUALS" : "DIFFERS FROM",
              std::equal(back.begin(), back.end(), restored.begin()) ? "EQUAL" : "DIFFER");
}

void bench(Backend& backend, const Run& asked, Bytes values) {
  Run run = asked;
  constexpr int warm_up = 3;
  constexpr int runs = 15;
  const DeviceBuffer field(values.size());
  const DeviceBuffer output(values.size());
  const DeviceBuffer archive(values.size() + 65536);
  gpu::check(cudaMemcpy(field.bytes().data(), values.data(), values.size(), cudaMemcpyDefault),
             "copy");
  if (run.bound_is_known) run.bound = absolute(backend, run, field.bytes());
  std::vector<double> compressing;
  std::vector<double> decompressing;
  StepTimes steps;
  StepTimes back_steps;
  ByteCount made = 0;
  const FrameShape shape{run.dtype, run.dims};
  for (int i = 0; i < warm_up + runs; ++i) {
    StepTimes ignored;
    auto start = Clock::now();
    made = compress(
        backend, run, field.bytes(), [&](ByteCount size) { return archive.bytes().first(size); },
        i < warm_up ? ignored : steps);
    gpu::check(cudaDeviceSynchronize(), "finish");
    if (i >= warm_up)
      compressing.push_back(std::chrono::duration<double>(Clock::now() - start).count());

    start = Clock::now();
    decompress_frame(backend, shape, archive.bytes().first(made), output.bytes(),
                     i < warm_up ? ignored : back_steps);
    gpu::check(cudaDeviceSynchronize(), "finish");
    if (i >= warm_up)
      decompressing.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  const double gb = static_cast<double>(values.size()) * 1e-9;
  std::printf(
      "%-28s %s %-8s %.0e ratio %7.2f  compress %7.1f GB/s (%.3f ms)  decompress %7.1f GB/s (%.3f "
      "ms)  arena %.2f x\n",
      run.field.c_str(), name_of(run.dtype).data(), name_of(run.predictor).data(), asked.bound,
      static_cast<double>(values.size()) / static_cast<double>(made), gb / median(compressing),
      1e3 * median(compressing), gb / median(decompressing), 1e3 * median(decompressing),
      static_cast<double>(gpu::peak_device_bytes(backend)) / static_cast<double>(values.size()));
  print_steps("compress", steps, runs);
  print_steps("decompress", back_steps, runs);
  if (!run.compare) return;
  std::vector<std::byte> host(made);
  std::vector<std::byte> restored(values.size());
  backend.copy(archive.bytes().first(made), host);
  backend.copy(output.bytes(), restored);
  compare_with_cpu(run, values, host, restored);
}

std::vector<std::byte> read_field(const std::string& path, const Dims& dims, DType dtype) {
  std::vector<std::byte> values(dims.count() * size_of(dtype));
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(values.data()),
                 static_cast<std::streamsize>(values.size()))) {
    throw InputError("cannot read " + path);
  }
  return values;
}

/// From a field of f32: to all the range of integers, else to [0, 1].
std::vector<std::byte> scaled_field(const std::string& path, const Dims& dims, DType dtype) {
  const std::vector<std::byte> field = read_field(path, dims, DType::f32);
  const std::span values(reinterpret_cast<const float*>(field.data()), dims.count());
  const auto range = std::minmax_element(values.begin(), values.end());
  const double low = *range.first;
  const double least = is_integer(dtype) ? nearest_stored(dtype, -1e30) : 0;
  const double most = is_integer(dtype) ? nearest_stored(dtype, 1e30) : 1;
  const double factor = (most - least) / (*range.second - low);
  std::vector<std::byte> scaled(dims.count() * size_of(dtype));
  with_type_of(work_of(dtype), [&](auto zero) {
    std::vector<decltype(zero)> work;
    for (const float value : values)
      work.push_back(static_cast<decltype(zero)>(least + factor * (double{value} - low)));
    from_work(dtype, std::as_bytes(std::span(work)), scaled);
  });
  return scaled;
}

}  // namespace

}  // namespace cuszi

/// gpu_bench FIELD DIMS TYPE PREDICTOR BOUND [compare] [abs] [pwrel] [scaled] [fast] [bitcomp]
/// [rate:BITS]; FIELD is a file, PREDICTOR may be "auto", as preset `ratio`. abs: the absolute
/// bound is known in advance; pwrel: it is a share of each value; scaled: FIELD is of f32; fast:
/// effort; rate: zfp without bound.
int main(int argc, char** argv) {
  using namespace cuszi;
  try {
    if (argc < 6) {
      throw UsageError(
          "gpu_bench FIELD DIMS TYPE PREDICTOR BOUND [compare] [abs] [pwrel] [scaled] [fast] "
          "[bitcomp] [rate:BITS]");
    }
    Run run;
    run.field = argv[1];
    run.dims = Dims::parse(argv[2]);
    run.dtype = dtype_named(argv[3]).value();
    run.automatic = std::string(argv[4]) == "auto";
    run.predictor = run.automatic ? PredictorId::multilevel : predictor_named(argv[4]).value();
    run.bound = std::stod(argv[5]);
    bool is_scaled = false;
    for (int i = 6; i < argc; ++i) {
      const std::string extra = argv[i];
      run.compare |= extra == "compare";
      run.bound_is_known |= extra == "abs";
      run.bound_is_share |= extra == "pwrel";
      is_scaled |= extra == "scaled";
      if (extra == "fast") run.effort = Effort::fast;
      if (extra == "bitcomp") run.lossless = Lossless::bitcomp;
      if (extra.starts_with("rate:")) {
        run.zfp = {ZfpMode::Kind::rate, std::stod(extra.substr(5))};
      }
    }
    const auto values = is_scaled ? scaled_field(run.field, run.dims, run.dtype)
                                  : read_field(run.field, run.dims, run.dtype);
    run.field = run.field.substr(run.field.rfind('/') + 1);
    const auto backend = gpu::make_backend();
    bench(*backend, run, values);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_bench: %s\n", e.what());
    return 1;
  }
}

// Times of `multilevel` on the device, pass by pass.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "gpu/field/hash.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/tuning/context_fit.cuh"
#include "gpu/tuning/multilevel_fit.cuh"

namespace cuszi::gpu {

namespace {

constexpr int warm_up = 3;
constexpr int runs = 11;

const char* name_of(Geometry geometry) {
  return geometry == Geometry::cube ? " cube" : geometry == Geometry::slice ? " slice" : "";
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Events on a stream, in milliseconds.
class Moments {
 public:
  explicit Moments(cudaStream_t stream) : stream_(stream) {}
  ~Moments() {
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  }

  void mark() {
    if (used_ == events_.size()) check(cudaEventCreate(&events_.emplace_back()), "create an event");
    check(cudaEventRecord(events_[used_++], stream_), "record an event");
  }
  std::vector<double> take() {
    check(cudaStreamSynchronize(stream_), "finish");
    std::vector<double> times;
    for (std::size_t i = 1; i < used_; ++i) {
      float ms = 0;
      check(cudaEventElapsedTime(&ms, events_[i - 1], events_[i]), "tell the time");
      times.push_back(ms);
    }
    used_ = 0;
    return times;
  }

 private:
  cudaStream_t stream_;
  std::vector<cudaEvent_t> events_;
  std::size_t used_ = 0;
};

/// Medians over runs of the times between marks.
template <class F>
std::vector<double> times_of(DeviceContext& gpu, const F& run) {
  Moments moments(gpu.stream());
  std::vector<std::vector<double>> all;
  for (int i = 0; i < warm_up + runs; ++i) {
    moments.mark();
    run(moments);
    const std::vector<double> times = moments.take();
    if (i < warm_up) continue;
    all.resize(times.size());
    for (std::size_t k = 0; k < times.size(); ++k) all[k].push_back(times[k]);
  }
  std::vector<double> medians;
  for (const auto& some : all) medians.push_back(median(some));
  return medians;
}

template <class T>
void bench(const std::string& name, const Dims& dims, const std::vector<T>& host, double relative,
           int reach) {
  DeviceContext gpu;
  const std::uint64_t points = dims.count();
  const double gb = static_cast<double>(points * sizeof(T)) * 1e-9;
  T* const original = gpu.take<T>(points);
  T* const restored = gpu.take<T>(points);
  T* const back = gpu.take<T>(points);
  start_copy(gpu, original, host.data(), points);
  FieldScan scan;
  scan.min = static_cast<double>(*std::min_element(host.begin(), host.end()));
  scan.max = static_cast<double>(*std::max_element(host.begin(), host.end()));
  const double bound = relative * (scan.max - scan.min);
  PredictorConfig config;
  config.multilevel.reach = reach;
  MultilevelParams params = MultilevelParams::draft(config, dims);
  params.choose(config, scan, bound, dtype_of<T>);
  FrameMemory memory(gpu);
  fit_coefficients(gpu, {&params, 1},
                   FrameInput<T>{dims.as_3d(), original, {}, 0, scan.min, scan.max, dims},
                   original);
  LevelFrame<T> frame(gpu, memory, params, scan.min, scan.max, restored);
  LevelFrame<T> other(gpu, memory, params, scan.min, scan.max, back);
  auto* const codes = gpu.take<QuantCode>(points);
  auto* const contexts = gpu.take<std::uint8_t>(points);
  auto* const counts = gpu.take_zeroed<std::uint64_t>(64);
  auto* const errors = gpu.take_zeroed<std::int64_t>(1);
  std::vector<RankedBits> outliers;
  for (int p = 0; p < frame.passes(); ++p) outliers.push_back(make_bits(gpu, frame.pass(p).points));
  const auto quantizer = [&](int p) {
    return Quantizer<T>(params.half_step_of(frame.pass(p).level), bound, scan.min, scan.max,
                        params.radius);
  };
  const auto encode = [&](int p) {
    frame.enter(p);
    quantise_pass(gpu, frame.view(p),
                  QuantiseTask<T>{original,
                                  {},
                                  {},
                                  quantizer(p),
                                  codes + frame.start(p),
                                  outliers[static_cast<std::size_t>(p)],
                                  counts + p,
                                  errors,
                                  error_units_per_one(bound),
                                  frame.listed(p)});
  };
  for (int p = 0; p < frame.passes(); ++p) encode(p);
  std::vector<ContextWeights> weights;
  std::vector<std::size_t> first_weights;
  RememberedWeights remembered;
  for (const std::vector<ContextWeights>& chosen :
       choose_weights(gpu, frame, {0, frame.passes()}, {}, remembered)) {
    first_weights.push_back(weights.size());
    weights.insert(weights.end(), chosen.begin(), chosen.end());
  }
  const ContextWeights* const on_device = upload(gpu, weights.data(), weights.size());
  const auto fill = [&](LevelFrame<T>& of, int p) {
    fill_contexts(gpu, of.view(p), on_device + first_weights[static_cast<std::size_t>(p)],
                  contexts + frame.start(p));
  };
  std::vector<SparseView> lists;
  for (int p = 0; p < frame.passes(); ++p) {
    const std::uint64_t* const count = download(gpu, counts + p, 1);
    gpu.sync();
    const Bytes list =
        list_outliers(gpu, frame.view(p), original, outliers[static_cast<std::size_t>(p)], *count);
    lists.push_back(list.empty() ? SparseView{}
                                 : decode_sparse(gpu, {list}, frame.pass(p).points).front());
  }
  const auto decode = [&](int p) {
    restore_pass(gpu, other.view(p),
                 RestoreTask<T>{{},
                                quantizer(p),
                                codes + frame.start(p),
                                lists[static_cast<std::size_t>(p)],
                                gpu.flaws(),
                                other.listed(p)});
  };

  const auto by_pass = [&](const auto& step) {
    return times_of(gpu, [&](Moments& moments) {
      for (int p = 0; p < frame.passes(); ++p) {
        step(p);
        moments.mark();
      }
    });
  };
  const auto whole = [&](const auto& step) {
    return times_of(gpu,
                    [&](Moments& moments) {
                      step();
                      moments.mark();
                    })
        .front();
  };
  const auto for_all = [&](const auto& step) {
    return [&] {
      for (int p = 0; p < frame.passes(); ++p) step(p);
    };
  };
  const auto predict_times = by_pass(encode);
  const auto context_times = by_pass([&](int p) { fill(frame, p); });
  const auto enter_times = by_pass([&](int p) { other.enter(p); });
  const auto restore_times = by_pass(decode);
  const double predict_ms = whole(for_all(encode));
  const double contexts_ms = whole(for_all([&](int p) { fill(frame, p); }));
  const double restore_ms = whole([&] {
    for (int p = 0; p < frame.passes(); ++p) {
      other.enter(p);
      fill(other, p);
      decode(p);
    }
  });
  frame.leave();
  other.leave();
  // Again in full, so that the arrays are complete.
  const double leave_ms = whole([&] { other.leave(); });
  for (int p = 0; p < frame.passes(); ++p) encode(p);
  for (int p = 0; p < frame.passes(); ++p) {
    other.enter(p);
    decode(p);
  }
  frame.leave();
  other.leave();
  std::vector<T> a(points);
  std::vector<T> b(points);
  start_copy(gpu, a.data(), restored, points);
  start_copy(gpu, b.data(), back, points);
  gpu.sync();
  double worst = 0;
  for (std::uint64_t i = 0; i < points; ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(b[i]) - static_cast<double>(host[i])));
  }
  const double hash_ms = whole([&] { block_hash(gpu, frame.coarse_values()); });

  std::printf("%s %s %s %.0e reach %d: worst error %.3f of the bound, both ways %s\n", name.c_str(),
              dims.to_string().c_str(), name_of(dtype_of<T>).data(), relative, reach, worst / bound,
              a == b ? "EQUAL" : "DIFFERENT");
  for (int p = 0; p < frame.passes(); ++p) {
    const auto i = static_cast<std::size_t>(p);
    const Pass& pass = frame.pass(p);
    if (pass.level > 2 && pass.points < 100000) continue;
    std::printf(
        "  level %d %9llu points%s: quantise %.3f contexts %.3f enter %.3f restore %.3f ms\n",
        pass.level, static_cast<unsigned long long>(pass.points), name_of(frame.view(p).geometry),
        predict_times[i], context_times[i], enter_times[i], restore_times[i]);
  }
  std::printf(
      "  all: quantise %.3f ms (%.0f GB/s), contexts %.3f ms (%.0f GB/s), enter + contexts + "
      "restore "
      "%.3f ms (%.0f GB/s), leave %.3f ms, hash %.3f ms\n",
      predict_ms, 1e3 * gb / predict_ms, contexts_ms, 1e3 * gb / contexts_ms, restore_ms,
      1e3 * gb / restore_ms, leave_ms, hash_ms);
}

template <class T>
std::vector<T> read_values(const std::string& path, std::uint64_t points) {
  std::vector<T> values(points);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(points * sizeof(T)));
  if (!in) throw UsageError(path + " is too short");
  return values;
}

}  // namespace

}  // namespace cuszi::gpu

/// multilevel_bench FIELD DIMS f32|f64 REL_BOUND REACH
int main(int argc, char** argv) {
  using namespace cuszi;
  try {
    if (argc < 6) throw UsageError("multilevel_bench FIELD DIMS f32|f64 REL_BOUND REACH");
    const Dims dims = Dims::parse(argv[2]);
    const std::string type = argv[3];
    const double bound = std::stod(argv[4]);
    const int reach = std::stoi(argv[5]);
    if (type == "f64") {
      const auto values = gpu::read_values<float>(argv[1], dims.count());
      gpu::bench<double>(argv[1], dims, {values.begin(), values.end()}, bound, reach);
    } else {
      gpu::bench<float>(argv[1], dims, gpu::read_values<float>(argv[1], dims.count()), bound,
                        reach);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "multilevel_bench: %s\n", e.what());
    return 1;
  }
  return 0;
}

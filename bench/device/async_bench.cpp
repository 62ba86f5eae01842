// Microseconds per call for small fields by preset `fast`, absolute bound: synchronous, by the
// context's thread, and in stream order on a GPU.
#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "bench/measure/chunk_place.hpp"
#include "bench/measure/workbench.hpp"
#include "codec/frames/backend_choice.hpp"
#include "codec/frames/call_times.hpp"
#include "core/base/error.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::bench {

namespace {

struct Asked {
  std::size_t calls = 1000;
  std::uint64_t side = 64;
  int runs = 11;
  DeviceChoice device;
};

/// Calls for fields in turn.
class Row {
 public:
  Row(const Asked& asked, Backend& backend)
      : asked_(asked),
        field_{CUSZI_F32, 3, {asked.side, asked.side, asked.side}},
        bytes_(::cuszi_field_bytes(&field_)),
        room_(::cuszi_bound(&field_, nullptr)),
        values_(backend, 0, fields * bytes_),
        archives_(backend, 1, fields * room_),
        restored_(backend, 2, fields * bytes_),
        sizes_(backend, 3, fields * sizeof(std::size_t)),
        host_sizes_(fields),
        context_(::cuszi_context_create()) {
    options_.mode = CUSZI_ABS;
    options_.bound = 2e-3;  // about 1e-3 of the range
    options_.preset = CUSZI_PRESET_FAST;
    options_.device = backend.transfer() == nullptr ? CUSZI_DEVICE_CPU : CUSZI_DEVICE_CUDA;
    for (std::size_t i = 0; i < fields; ++i) {
      const std::vector<float> values = waves(asked.side, i);
      backend.copy(std::as_bytes(std::span(values)), {values_.at(i * bytes_), bytes_});
    }
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  ~Row() { ::cuszi_context_destroy(context_); }

  void measure() {
    const auto size_there = [&](std::size_t i) {
      return reinterpret_cast<std::size_t*>(sizes_.at(i * sizeof(std::size_t)));
    };
    const auto size_here = [&](std::size_t i) { return &host_sizes_[i]; };
    tell(
        "waiting", [&](std::size_t i) { return compress(i); },
        [&](std::size_t i) { return restore(i); });
    tell(
        "by a thread", [&](std::size_t i) { return compress_async(i, size_here(i)); },
        [&](std::size_t i) { return restore_async(i, size_here(i)); });
    if (options_.device == CUSZI_DEVICE_CPU) return;
    tell(
        "in a stream", [&](std::size_t i) { return compress_async(i, size_there(i)); },
        [&](std::size_t i) { return restore_async(i, size_there(i)); });
  }

 private:
  using Call = std::function<cuszi_status(std::size_t)>;

  static constexpr std::size_t fields = 16;

  cuszi_status compress(std::size_t i) {
    return ::cuszi_compress(context_, &options_, &field_, values_.at(i * bytes_),
                            archives_.at(i * room_), room_, &host_sizes_[i]);
  }
  cuszi_status restore(std::size_t i) {
    return ::cuszi_decompress(context_, &options_, archives_.at(i * room_), host_sizes_[i],
                              restored_.at(i * bytes_), bytes_);
  }
  cuszi_status compress_async(std::size_t i, std::size_t* size) {
    return ::cuszi_compress_async(context_, &options_, &field_, values_.at(i * bytes_),
                                  archives_.at(i * room_), room_, size, nullptr);
  }
  cuszi_status restore_async(std::size_t i, const std::size_t* size) {
    return ::cuszi_decompress_async(context_, &options_, &field_, archives_.at(i * room_), size,
                                    restored_.at(i * bytes_), bytes_, nullptr);
  }

  void tell(const char* how, const Call& compress, const Call& restore) {
    const Times compressing = times_of(compress);
    const Times restoring = times_of(restore);
    fmt::print("{:<12} {:>10.1f} {:>10.1f} {:>10.1f} {:>10.1f}\n", how, compressing.all,
               compressing.until_returned, restoring.all, restoring.until_returned);
  }

  /// Medians in microseconds per call.
  struct Times {
    double all;
    double until_returned;
  };
  Times times_of(const Call& call) {
    std::vector<double> all;
    std::vector<double> returned;
    for (int run = -1; run < asked_.runs; ++run) {
      const Stopwatch clock;
      for (std::size_t i = 0; i < asked_.calls; ++i) require(call(i % fields));
      const double then = clock.seconds();
      require(::cuszi_wait(context_));
      if (run < 0) continue;
      returned.push_back(then);
      all.push_back(clock.seconds());
    }
    const double each = 1e6 / static_cast<double>(asked_.calls);
    return {median_of(all) * each, median_of(returned) * each};
  }

  void require(cuszi_status status) const {
    if (status != CUSZI_OK) throw UsageError(::cuszi_last_error(context_));
  }

  const Asked& asked_;
  cuszi_field field_;
  ByteCount bytes_;
  ByteCount room_;
  Place values_;
  Place archives_;
  Place restored_;
  Place sizes_;
  std::vector<std::size_t> host_sizes_;
  cuszi_context* context_;
  cuszi_options options_ = cuszi_default_options();
};

void measure(const Asked& asked) {
  Backends backends(asked.device);
  Backend& backend = backends.for_frames();
  Row row(asked, backend);
  fmt::print("{} calls for {}^3, {}, microseconds each, median of {}\n", asked.calls, asked.side,
             backend.name(), asked.runs);
  fmt::print("{:<12} {:>10} {:>10} {:>10} {:>10}\n", "", "compress", "returned", "restore",
             "returned");
  row.measure();
}

Asked read_arguments(int argc, char** argv) {
  Asked asked;
  if (argc > 1) asked.calls = std::stoul(argv[1]);
  if (argc > 2) asked.side = std::stoul(argv[2]);
  if (argc > 3) asked.runs = std::stoi(argv[3]);
  if (argc > 4 && std::string_view(argv[4]) == "cpu") asked.device.kind = DeviceChoice::Kind::cpu;
  if (asked.calls == 0 || asked.side == 0 || asked.runs < 1) {
    throw UsageError("async_bench [CALLS] [SIDE] [RUNS] [auto|cpu]: numbers above 0");
  }
  return asked;
}

}  // namespace

}  // namespace cuszi::bench

int main(int argc, char** argv) {
  try {
    cuszi::bench::measure(cuszi::bench::read_arguments(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "async_bench: {}\n", error.what());
    return 1;
  }
}

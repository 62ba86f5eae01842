// Many small fields in one call of the C API and in single calls, by preset, on a GPU or the host.
// Fields are waves.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/workbench.hpp"
#include "codec/frames/backend_choice.hpp"
#include "codec/frames/call_times.hpp"
#include "codec/frames/frame_scheduler.hpp"
#include "core/backend/backend.hpp"
#include "core/base/error.hpp"
#include "core/base/growing_memory.hpp"
#include "core/base/unmovable.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::bench {

namespace {

struct Asked {
  std::size_t chunks = 2048;
  std::uint64_t side = 64;
  int runs = 11;
  double bound = 2e-3;  ///< about 1e-3 of the waves' range
  std::string method;   ///< empty: all
  DeviceChoice device;
};

struct Method {
  const char* name;
  cuszi_preset preset;
  cuszi_effort effort;
};

constexpr std::array methods{
    Method{"fast", CUSZI_PRESET_FAST, CUSZI_EFFORT_NORMAL},
    Method{"balanced", CUSZI_PRESET_BALANCED, CUSZI_EFFORT_NORMAL},
    Method{"cusz", CUSZI_PRESET_CUSZ, CUSZI_EFFORT_NORMAL},
    Method{"cuszi", CUSZI_PRESET_CUSZI, CUSZI_EFFORT_NORMAL},
    Method{"zfp", CUSZI_PRESET_ZFP, CUSZI_EFFORT_NORMAL},
    Method{"ratio, fast", CUSZI_PRESET_RATIO, CUSZI_EFFORT_FAST},
    Method{"ratio", CUSZI_PRESET_RATIO, CUSZI_EFFORT_NORMAL},
};

/// Memory of a backend.
class Place {
 public:
  Place(Backend& backend, std::size_t number, ByteCount size)
      : bytes_(backend.transfer() == nullptr
                   ? room_.resize(size)
                   : backend.transfer()->memory(first_kept_buffer + number, size)) {}
  std::byte* at(ByteCount offset) const { return bytes_.data() + offset; }

 private:
  Buffer room_;
  MutableBytes bytes_;
};

/// Waves that differ by `number`.
std::vector<float> waves(std::uint64_t side, std::size_t number) {
  std::vector<float> values;
  values.reserve(side * side * side);
  const auto wave = [&](std::uint64_t i, double length) {
    return std::sin(static_cast<double>(i + 5 * number) / length);
  };
  for (std::uint64_t z = 0; z < side; ++z) {
    for (std::uint64_t y = 0; y < side; ++y) {
      for (std::uint64_t x = 0; x < side; ++x) {
        values.push_back(static_cast<float>(wave(z, 9) * wave(y, 11) * wave(x, 13)));
      }
    }
  }
  return values;
}

class Batch : Unmovable {
 public:
  Batch(const Asked& asked, Backend& backend)
      : asked_(asked),
        field_{CUSZI_F32, 3, {asked.side, asked.side, asked.side}},
        bytes_(::cuszi_field_bytes(&field_)),
        room_(::cuszi_bound(&field_, nullptr)),
        values_(backend, 0, asked.chunks * bytes_),
        archives_(backend, 1, asked.chunks * room_),
        restored_(backend, 2, asked.chunks * bytes_),
        context_(::cuszi_context_create()) {
    options_.mode = CUSZI_ABS;
    options_.bound = asked.bound;
    options_.device = backend.transfer() == nullptr ? CUSZI_DEVICE_CPU : CUSZI_DEVICE_CUDA;
    constexpr std::size_t kinds = 16;
    for (std::size_t kind = 0; kind < std::min(kinds, asked.chunks); ++kind) {
      const std::vector<float> values = waves(asked.side, kind);
      for (std::size_t i = kind; i < asked.chunks; i += kinds) {
        backend.copy(std::as_bytes(std::span(values)), {values_.at(i * bytes_), bytes_});
      }
    }
    for (std::size_t i = 0; i < asked.chunks; ++i) {
      made_.push_back({nullptr, field_, values_.at(i * bytes_), archives_.at(i * room_), room_, 0,
                       CUSZI_OK, 0});
    }
  }
  ~Batch() { ::cuszi_context_destroy(context_); }

  void measure(const Method& method) {
    options_.preset = method.preset;
    options_.effort = method.effort;
    const auto compress = [&](cuszi_compression* from, std::size_t count) {
      return ::cuszi_compress_batch(context_, &options_, from, count);
    };
    const auto restore = [&](cuszi_decompression* from, std::size_t count) {
      return ::cuszi_decompress_batch(context_, &options_, from, count);
    };
    const double together = rate(made_, asked_.chunks, compress);
    const double alone = rate(made_, 1, compress);
    again_.clear();
    ByteCount archives = 0;
    for (std::size_t i = 0; i < asked_.chunks; ++i) {
      again_.push_back({nullptr, made_[i].archive, made_[i].size, restored_.at(i * bytes_), bytes_,
                        CUSZI_OK, 0});
      archives += made_[i].size;
    }
    const double restored_together = rate(again_, asked_.chunks, restore);
    const double restored_alone = rate(again_, 1, restore);
    fmt::print("{:<12} {:>8.1f} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f}\n", method.name,
               static_cast<double>(asked_.chunks * bytes_) / static_cast<double>(archives),
               together, alone, restored_together, restored_alone);
  }

 private:
  /// Median GB/s with `at_once` members per call.
  template <class Member, class Call>
  double rate(std::vector<Member>& members, std::size_t at_once, const Call& call) {
    std::vector<double> seconds;
    for (int run = -1; run < asked_.runs; ++run) {
      const Stopwatch clock;
      for (std::size_t i = 0; i < members.size(); i += at_once) {
        if (call(&members[i], at_once) != CUSZI_OK) throw UsageError(::cuszi_last_error(context_));
      }
      if (run >= 0) seconds.push_back(clock.seconds());
    }
    return static_cast<double>(members.size() * bytes_) / median_of(seconds) * 1e-9;
  }

  const Asked& asked_;
  cuszi_field field_;
  ByteCount bytes_;
  ByteCount room_;
  Place values_;
  Place archives_;
  Place restored_;
  cuszi_context* context_;
  cuszi_options options_ = cuszi_default_options();
  std::vector<cuszi_compression> made_;
  std::vector<cuszi_decompression> again_;
};

void measure(const Asked& asked) {
  Backends backends(asked.device);
  Backend& backend = backends.for_frames();
  Batch batch(asked, backend);
  fmt::print("{} chunks of {}^3, {}, GB/s, median of {}\n", asked.chunks, asked.side,
             backend.name(), asked.runs);
  fmt::print("{:<12} {:>8} {:>10} {:>10} {:>10} {:>10}\n", "", "ratio", "compress", "one by one",
             "restore", "one by one");
  for (const Method& method : methods) {
    if (asked.method.empty() || asked.method == method.name) batch.measure(method);
  }
}

Asked read_arguments(int argc, char** argv) {
  Asked asked;
  if (argc > 1) asked.chunks = std::stoul(argv[1]);
  if (argc > 2) asked.side = std::stoul(argv[2]);
  if (argc > 3) asked.runs = std::stoi(argv[3]);
  if (argc > 4 && std::string_view(argv[4]) == "cpu") asked.device.kind = DeviceChoice::Kind::cpu;
  if (argc > 5) asked.method = argv[5];
  if (argc > 6) asked.bound = std::stod(argv[6]);
  if (asked.chunks == 0 || asked.side == 0 || asked.runs < 1) {
    throw UsageError(
        "batch_bench [CHUNKS] [SIDE] [RUNS] [auto|cpu] [METHOD] [BOUND]: numbers above "
        "0");
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
    fmt::print(stderr, "batch_bench: {}\n", error.what());
    return 1;
  }
}

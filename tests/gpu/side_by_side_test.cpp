// Contexts of several threads share a process and a device, and nothing else.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cuszi/cuszi.h"
#include "cuszi/gpu.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

/// A field, how it is compressed, and what a CPU makes of it.
struct Case {
  cuszi_field field;
  cuszi_options options;
  std::vector<std::byte> values;
  std::vector<std::byte> archive;
  std::vector<std::byte> restored;

  std::string to_string() const {
    std::ostringstream text;
    text << "preset " << options.preset << ", bound " << options.bound << ", dtype " << field.dtype
         << ", dims";
    for (int i = 0; i < field.rank; ++i) text << ' ' << field.dims[i];
    return text.str();
  }
};

template <class T>
std::vector<std::byte> wavy_values(std::size_t count, Random& random) {
  std::vector<std::byte> bytes(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    const T value =
        static_cast<T>(std::sin(static_cast<double>(i) * 3e-3) + 1e-3 * (2 * random.uniform() - 1));
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

/// Compresses and restores; the result's status, and what it made.
cuszi_status run(cuszi_context* context, const Case& one, const cuszi_options& options,
                 std::vector<std::byte>& archive, std::vector<std::byte>& restored) {
  archive.resize(cuszi_bound(&one.field, &options));
  std::size_t size = 0;
  const cuszi_status made = cuszi_compress(context, &options, &one.field, one.values.data(),
                                           archive.data(), archive.size(), &size);
  if (made != CUSZI_OK) return made;
  archive.resize(size);
  restored.resize(one.values.size());
  return cuszi_decompress(context, &options, archive.data(), size, restored.data(),
                          restored.size());
}

struct DestroyContext {
  void operator()(cuszi_context* context) const { cuszi_context_destroy(context); }
};
using OwnedContext = std::unique_ptr<cuszi_context, DestroyContext>;

std::vector<Case> make_cases() {
  const std::vector<std::vector<std::uint64_t>> shapes = {
      {70000}, {37, 211}, {40, 100, 101}, {16, 16, 16}, {3, 20, 30, 40}, {128, 96, 80}};
  Random random(17);
  const OwnedContext context(cuszi_context_create());
  std::vector<Case> cases;
  for (const auto& dims : shapes) {
    for (const int dtype : {CUSZI_F32, CUSZI_F64}) {
      for (const double bound : {1e-2, 1e-4, 1e-6}) {
        for (int preset = CUSZI_PRESET_RATIO; preset <= CUSZI_PRESET_ZFP; ++preset) {
          Case one{{dtype, static_cast<std::int32_t>(dims.size()), {}},
                   cuszi_default_options(),
                   {},
                   {},
                   {}};
          std::copy(dims.begin(), dims.end(), one.field.dims);
          one.options.bound = bound;
          one.options.preset = preset;
          const std::size_t count = cuszi_field_bytes(&one.field) / (dtype == CUSZI_F32 ? 4 : 8);
          one.values = dtype == CUSZI_F32 ? wavy_values<float>(count, random)
                                          : wavy_values<double>(count, random);
          cuszi_options options = one.options;
          options.device = CUSZI_DEVICE_CPU;
          INFO(one.to_string());
          REQUIRE(run(context.get(), one, options, one.archive, one.restored) == CUSZI_OK);
          cases.push_back(std::move(one));
        }
      }
    }
  }
  return cases;
}

/// What went wrong first.
class FirstFailure {
 public:
  void set(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    if (text_.empty()) text_ = text;
    is_set_ = true;
  }
  bool is_set() const { return is_set_; }
  std::string text() const { return text_; }

 private:
  std::mutex mutex_;
  std::string text_;
  std::atomic<bool> is_set_ = false;
};

void run_cases(const std::vector<Case>& cases, std::uint64_t seed,
               std::chrono::steady_clock::time_point end, std::atomic<int>& runs,
               FirstFailure& failure) {
  Random random(seed);
  const OwnedContext context(cuszi_context_create());
  std::vector<std::byte> archive;
  std::vector<std::byte> restored;
  while (std::chrono::steady_clock::now() < end && !failure.is_set()) {
    const Case& one = cases[random.below(cases.size())];
    cuszi_options options = one.options;
    options.device = CUSZI_DEVICE_CUDA;
    if (run(context.get(), one, options, archive, restored) != CUSZI_OK)
      failure.set(one.to_string() + ": " + cuszi_last_error(context.get()));
    else if (archive != one.archive)
      failure.set(one.to_string() + ": another archive");
    else if (restored != one.restored)
      failure.set(one.to_string() + ": other values");
    ++runs;
  }
}

}  // namespace

TEST_CASE("contexts of eight threads do not disturb each other on a device", "[gpu]") {
  if (gpu::device_count() == 0) {
    WARN("no GPU here: the test is skipped");
    return;
  }
  constexpr int thread_count = 8;
  const char* const asked = std::getenv("CUSZI_SOAK_SECONDS");
  const std::chrono::seconds duration(asked == nullptr ? 10 : std::atoi(asked));
  const std::vector<Case> cases = make_cases();
  const auto end = std::chrono::steady_clock::now() + duration;
  std::atomic<int> runs = 0;
  FirstFailure failure;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < thread_count; ++i) {
      threads.emplace_back(
          [&, i] { run_cases(cases, 100 + static_cast<std::uint64_t>(i), end, runs, failure); });
    }
  }
  INFO(runs << " runs");
  CHECK(failure.text() == "");
  REQUIRE(runs > thread_count);
}

}  // namespace cuszi::test

#include <sys/resource.h>

#include <ctime>
#include <fstream>
#include <limits>
#include <thread>

#include "tests/library/fields.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

/// Seconds of processors that one of `turns` calls of `work` takes, of the quickest of three tries.
template <class Work>
double cpu_seconds(int turns, const Work& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    for (int turn = 0; turn < turns; ++turn) work();
    const auto ticks = static_cast<double>(std::clock() - start);
    least = std::min(least, ticks / CLOCKS_PER_SEC / turns);
  }
  return least;
}

}  // namespace

TEST_CASE("threads with a context each make the same archives", "[library]") {
  constexpr unsigned count = sanitized ? 4 : 8;
  constexpr int turns = sanitized ? 1 : 3;
  std::vector<Archive> expected;
  for (unsigned i = 0; i < count; ++i) {
    expected.push_back(archive_of(make_values<float>(points, i), cuszi::relative(1e-3)));
  }
  std::vector<int> good(count, 0);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      cuszi::Context context;
      cuszi_options options = cuszi::relative(1e-3);
      options.threads = 1 + static_cast<std::int32_t>(i % 2);
      const auto values = make_values<float>(points, i);
      for (int turn = 0; turn < turns; ++turn) {
        const Archive archive = context.compress(values, dims, options);
        const auto restored = context.decompress<float>(archive);
        double largest = 0;
        for (std::size_t k = 0; k < points; ++k) {
          largest = std::max(largest, std::abs(static_cast<double>(values[k] - restored[k])));
        }
        const double bound = context.info(archive.data(), archive.size()).bound_absolute;
        good[i] += archive == expected[i] && largest <= bound ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == std::vector<int>(count, turns));
}

TEST_CASE("a forked child works on with the context of its parent", "[library]") {
  const auto values = make_values<float>(points, 3);
  cuszi_options options = cuszi::relative(1e-3);
  options.threads = 4;
  cuszi::Context context;
  const Archive expected = context.compress(values, dims, options);
  CHECK(in_child([&] {
    return context.compress(values, dims, options) == expected &&
           context.decompress<float>(expected).size() == points;
  }));
  CHECK(context.compress(values, dims, options) == expected);
}

TEST_CASE("threads that wait take no processor's time", "[library]") {
  if (sanitized) return;  // whose own work would be measured
  for (const auto& [extent, turns] : {std::pair{24U, 60}, std::pair{64U, 6}}) {
    const auto values = make_values<float>(std::size_t{extent} * extent * extent);
    cuszi_options options = cuszi::relative(1e-3);
    options.preset = CUSZI_PRESET_CUSZI;
    cuszi::Context context;
    const auto seconds_with = [&, extent = extent, turns = turns](std::int32_t threads) {
      options.threads = threads;
      const auto compress = [&] { context.compress(values, {extent, extent, extent}, options); };
      compress();
      return cpu_seconds(turns, compress);
    };
    const double of_one = seconds_with(1);
    INFO(extent);
    CHECK(seconds_with(2) < 1.5 * of_one);
  }
}

TEST_CASE("more threads than the system has do not end the process", "[library]") {
  if (sanitized) return;  // whose shadow memory is no smaller
  const auto values = make_values<float>(points, 3);
  cuszi_options options = cuszi::relative(1e-3);
  options.device = CUSZI_DEVICE_CPU;  // CUDA reserves more addresses than the limit below
  const Archive expected = cuszi::Context().compress(values, dims, options);
  options.threads = 512;
  CHECK(in_child([&] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * 4096 + (std::size_t{48} << 20);  // six stacks of threads
    const rlimit limit{most, most};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
    return cuszi::Context().compress(values, dims, options) == expected;
  }));
}

}  // namespace cuszi::test

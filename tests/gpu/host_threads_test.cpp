#include "gpu/runtime/host_threads.hpp"

#include <stdexcept>

#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("threads of the host take every item once, call after call") {
  gpu::HostThreads threads;
  for (std::size_t count = 0; count < 300; ++count) {
    std::vector<std::atomic<int>> taken(count);
    threads.for_each(count, [&](std::size_t i) { ++taken[i]; });
    for (const std::atomic<int>& times : taken) REQUIRE(times == 1);
  }
}

TEST_CASE("what a thread of the host throws reaches the caller, and the next call works") {
  gpu::HostThreads threads;
  const auto refuse_last = [](std::size_t i) {
    if (i == 99) throw std::runtime_error("the last one");
  };
  for (int round = 0; round < 50; ++round) {
    REQUIRE_THROWS_AS(threads.for_each(100, refuse_last), std::runtime_error);
    std::atomic<int> sum{0};
    threads.for_each(10, [&](std::size_t) { ++sum; });
    REQUIRE(sum == 10);
  }
}

}  // namespace cuszi::test

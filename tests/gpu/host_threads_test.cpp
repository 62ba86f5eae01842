#include "gpu/runtime/host_threads.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "cpu_ref/base/thread_count.hpp"
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

TEST_CASE("a caller that may use one thread takes all items itself") {
  gpu::HostThreads threads;
  threads.for_each(100, [](std::size_t) {});  // the others are there
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const ThreadsScope alone(1);
  const auto caller = std::this_thread::get_id();
  threads.for_each(100, [&](std::size_t) {
    REQUIRE(std::this_thread::get_id() == caller);
    REQUIRE(threads_in_use() == 1);
  });
}

}  // namespace cuszi::test

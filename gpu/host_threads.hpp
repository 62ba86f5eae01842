#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cuszi::gpu {

/// Calls each(i) for all i below `count` on several threads of the host, in any order: for what it
/// decides between kernels. Throws what one of the calls has thrown.
template <class Each>
void on_host_threads(std::size_t count, const Each& each) {
  constexpr std::size_t most_threads = 16;
  const std::size_t threads = std::min(
      {count, most_threads, std::size_t{std::max(1U, std::thread::hardware_concurrency())}});
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex error_guard;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) each(i);
    } catch (...) {
      const std::lock_guard lock(error_guard);
      error = std::current_exception();
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(run);
  run();
  others.clear();
  if (error) std::rethrow_exception(error);
}

}  // namespace cuszi::gpu

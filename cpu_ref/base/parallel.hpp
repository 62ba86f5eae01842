#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include "core/base/floating_point.hpp"
#include "cpu_ref/base/thread_count.hpp"
#include "cpu_ref/base/thread_pool.hpp"

namespace cuszi::cpu {

/// Runs work(state, i) for i in [0, count) on up to threads_in_use() threads, each with its own
/// make_state(); finish(state) runs under a lock. Results must not depend on the distribution.
/// Rethrows the first exception.
template <class MakeState, class Work, class Finish>
void parallel_for(std::uint64_t count, const MakeState& make_state, const Work& work,
                  const Finish& finish) {
  std::atomic<std::uint64_t> next = 0;
  std::exception_ptr failure;
  std::mutex one_at_a_time;
  const auto part = [&] {
    const ThreadsScope alone(1);  // nested loops are sequential
    try {
      const IeeeArithmetic arithmetic;
      auto state = make_state();
      for (std::uint64_t i = next++; i < count; i = next++) work(state, i);
      const std::scoped_lock lock(one_at_a_time);
      finish(state);
    } catch (...) {
      const std::scoped_lock lock(one_at_a_time);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  const auto threads = static_cast<std::uint64_t>(threads_in_use());
  run_in_threads(static_cast<int>(std::min(threads, std::max<std::uint64_t>(count, 1))) - 1, part);
  if (failure) std::rethrow_exception(failure);
}

template <class Work>
void parallel_for(std::uint64_t count, const Work& work) {
  parallel_for(
      count, [] { return 0; }, [&](int, std::uint64_t i) { work(i); }, [](int) {});
}

/// core's ForEach on the backend's threads.
inline void in_threads(std::size_t count, const std::function<void(std::size_t)>& each) {
  parallel_for(count, each);
}

}  // namespace cuszi::cpu

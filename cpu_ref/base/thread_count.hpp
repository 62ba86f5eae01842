#pragma once

#include <optional>
#include <string_view>

#include "core/base/unmovable.hpp"

namespace cuszi {

/// Further threads, beyond the processors, gain nothing.
inline constexpr int most_useful_threads = 16;

/// Processors of a cgroup's cpu.max ("QUOTA PERIOD", in microseconds), rounded up; nullopt if
/// unlimited ("max") or malformed.
std::optional<int> processors_of_quota(std::string_view cpu_max);

/// The first number in OMP_NUM_THREADS; nullopt if malformed.
std::optional<int> threads_of_variable(std::string_view text);

/// Threads that the calling thread may use: OMP_NUM_THREADS, else the smaller of its affinity and
/// its cgroup's limit.
int usable_threads();

int threads_in_use();

/// Sets the calling thread's number of threads for its lifetime; nullopt leaves it unchanged.
class ThreadsScope : Unmovable {
 public:
  explicit ThreadsScope(std::optional<int> threads);
  ~ThreadsScope();

 private:
  int before_;
};

}  // namespace cuszi

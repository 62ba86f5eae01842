#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cuszi {

/// More threads than this, or than there are processors if those are more, are of no use.
inline constexpr int most_useful_threads = 16;

/// How many processors the text of a cgroup's cpu.max ("QUOTA PERIOD", in microseconds) stands for,
/// rounded up; none if it is without limit ("max") or damaged.
std::optional<int> processors_of_quota(std::string_view cpu_max);

/// The count that OMP_NUM_THREADS gives for the outermost level; none if the text is none.
std::optional<int> threads_of_variable(std::string_view text);

/// How many threads the calling thread may use: what OMP_NUM_THREADS says, else as many as it may
/// run on processors (affinity) and its cgroup gives it time for. At least 1. Both backends ask.
int usable_threads();

/// What the calling thread's loops take now: usable_threads(), or what a ThreadsScope says.
int threads_in_use();

/// Sets the number of threads that parallel loops of the calling thread use, until it is destroyed;
/// none leaves the number unchanged.
class ThreadsScope {
 public:
  explicit ThreadsScope(std::optional<int> threads);
  ThreadsScope(const ThreadsScope&) = delete;
  ThreadsScope& operator=(const ThreadsScope&) = delete;
  ~ThreadsScope();

 private:
  int before_;
};

}  // namespace cuszi

#include "app/threads.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace cuszi::app {

#ifdef _OPENMP

namespace {

constexpr int most_threads = 1024;
constexpr int own_threads = 2;  ///< that a run may need beside OpenMP's

/// How many threads beside this one can run at once, up to `wanted`: OpenMP ends the process where
/// it does not get those that it was set to.
int startable_threads(int wanted) {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(wanted));
  try {
    while (static_cast<int>(threads.size()) < wanted) {
      threads.emplace_back([ended] { ended.wait(); });
    }
  } catch (const std::system_error&) {
    // There are no more.
  }
  const int started = static_cast<int>(threads.size());
  end.set_value();
  for (std::thread& thread : threads) thread.join();
  return started;
}

}  // namespace

void set_threads(std::optional<int> wanted) {
  const int most = std::max(most_threads, omp_get_num_procs());
  const int threads = std::min(wanted.value_or(omp_get_max_threads()), most);
  const int others = threads - 1;
  const int had = startable_threads(others);
  omp_set_num_threads(had == others ? threads : std::max(had - own_threads, 0) + 1);
}

#else

void set_threads(std::optional<int> /*wanted*/) {}

#endif

}  // namespace cuszi::app

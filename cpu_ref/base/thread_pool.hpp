#pragma once

#include <cstddef>
#include <functional>
#include <future>

#include "core/base/unmovable.hpp"

namespace cuszi {

/// A call in another thread. The destructor waits; the call must not use members destroyed earlier.
class Task : Unmovable {
 public:
  ~Task() {
    if (running_.valid()) running_.wait();
  }

  /// Throws the previous call's exception. Calls in this thread if out of threads.
  void start(const std::function<void()>& work) {
    if (!try_start(work)) work();
  }

  /// False if out of threads.
  bool try_start(const std::function<void()>& work);

  /// Throws the last call's exception.
  void wait() {
    if (running_.valid()) running_.get();
  }

 private:
  std::future<void> running_;
};

/// Calls part(track) for [0, tracks): track 0 in this thread, the others in threads of their own,
/// which may wait for each other. Out of threads, only some tracks run: fewer(their number) is
/// called first. Rethrows an exception when all have ended.
void on_tracks(
    std::size_t tracks, const std::function<void(std::size_t)>& part,
    const std::function<void(std::size_t)>& fewer = [](std::size_t) {});

namespace cpu {

/// Calls `part` in this thread and in up to `others` free threads, and waits for all. `part` must
/// not throw, nor wait for another call of it.
void run_in_threads(int others, const std::function<void()>& part);

}  // namespace cpu
}  // namespace cuszi

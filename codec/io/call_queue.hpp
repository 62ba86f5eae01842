#pragma once

#include <deque>
#include <functional>
#include <mutex>

#include "cpu_ref/base/thread_pool.hpp"

namespace cuszi {

/// Runs calls in order beside the thread that adds them, or in it if out of threads. The destructor
/// waits.
class CallQueue {
 public:
  /// Must not throw.
  void add(std::function<void()> call);

  void wait() { running_.wait(); }

 private:
  void make_calls();

  std::mutex mutex_;  ///< guards calls_ and is_running_
  std::deque<std::function<void()>> calls_;
  bool is_running_ = false;
  Task running_;
};

}  // namespace cuszi

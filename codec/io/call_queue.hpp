#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace cuszi {

/// Makes calls one after the other in a thread of its own, which the first one starts; at once in
/// the caller's if no thread is to be had. One thread adds and waits.
class CallQueue {
 public:
  CallQueue() = default;
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  /// Waits for all calls.
  ~CallQueue();

  /// Adds a call, which must not throw.
  void add(std::function<void()> call);

  /// Returns when all calls are done.
  void wait();
  /// Whether all are.
  bool is_idle();

 private:
  bool start();
  void serve();

  std::mutex mutex_;  ///< of all that follows but the thread
  std::condition_variable added_;
  std::condition_variable done_;
  std::deque<std::function<void()>> calls_;
  std::size_t undone_ = 0;  ///< of them, with the one in work
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace cuszi

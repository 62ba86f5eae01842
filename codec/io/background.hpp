#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>

namespace cuszi {

/// Runs one task at a time in its own thread, or in the caller's if out of threads. The destructor
/// waits; tasks must not use members destroyed earlier.
class BackgroundThread {
 public:
  /// Throws the previous task's exception.
  template <class Work>
  void start(Work work) {
    wait();
    try {
      running_ = std::async(std::launch::async, work);
    } catch (const std::system_error&) {  // out of threads
      work();
    }
  }

  /// Throws the last task's exception.
  void wait() {
    if (running_.valid()) running_.get();
  }

 private:
  std::future<void> running_;
};

/// Runs calls in order in one thread, or in the caller's if out of threads. One producer.
class CallQueue {
 public:
  CallQueue() = default;
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  ~CallQueue();

  /// Must not throw.
  void add(std::function<void()> call);

  void wait();
  bool is_idle();

 private:
  bool start();
  void serve();

  std::mutex mutex_;  ///< of all but thread_
  std::condition_variable added_;
  std::condition_variable done_;
  std::deque<std::function<void()>> calls_;
  std::size_t undone_ = 0;  ///< queued and running
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace cuszi

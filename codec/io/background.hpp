#pragma once

#include <future>
#include <system_error>

namespace cuszi {

/// Runs one task at a time in its own thread, or in the caller's if out of threads. The destructor
/// waits; tasks must not use members destroyed earlier.
class Background {
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

}  // namespace cuszi

#pragma once

#include <future>
#include <system_error>

namespace cuszi {

/// One piece of work at a time that is done beside the caller's own, or by it if there are no
/// threads. Its end waits for the work, which must not use what ends before.
class Background {
 public:
  /// Starts `work` when the one before is done, whose exception is thrown here.
  template <class Work>
  void start(Work work) {
    wait();
    try {
      running_ = std::async(std::launch::async, work);
    } catch (const std::system_error&) {  // no thread is to be had
      work();
    }
  }

  /// Waits for the last work; throws what it has thrown.
  void wait() {
    if (running_.valid()) running_.get();
  }

 private:
  std::future<void> running_;
};

}  // namespace cuszi

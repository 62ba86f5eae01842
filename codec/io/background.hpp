#pragma once

#include <future>
#include <system_error>

namespace cuszi {

/// Does one piece of work at a time in a thread of its own, or in the caller's if no thread is to
/// be had. The destructor waits for the work, which must not use objects that are destroyed
/// earlier.
class Background {
 public:
  /// Starts `work` after the work before it is done. Throws the exception of the work before.
  template <class Work>
  void start(Work work) {
    wait();
    try {
      running_ = std::async(std::launch::async, work);
    } catch (const std::system_error&) {  // no thread is to be had
      work();
    }
  }

  /// Waits for the last work. Throws its exception, if any.
  void wait() {
    if (running_.valid()) running_.get();
  }

 private:
  std::future<void> running_;
};

}  // namespace cuszi

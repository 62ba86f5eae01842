#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "core/base/unmovable.hpp"

namespace cuszi::gpu {

/// For decisions between kernels. Threads start on the first call and sleep between calls. A call
/// wakes at most one per item, and does not wait for late ones.
class HostThreads : Unmovable {
 public:
  /// `most` includes the caller's thread.
  explicit HostThreads(unsigned most = 16) : most_(most) {}
  ~HostThreads();

  /// Calls each(i) for i in [0, count), in any order. Rethrows an exception.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& each);

 private:
  struct Job;

  void start();
  void wake(std::size_t count);
  void serve();
  void await_change(std::uint32_t seen);
  bool join();

  unsigned most_;
  std::atomic<std::uint32_t> rounds_ = 0;  ///< jobs so far
  std::atomic<std::uint32_t> inside_ = 0;  ///< other threads in the job, and is_open
  std::atomic<Job*> job_ = nullptr;        ///< valid while open
  std::atomic<std::uint32_t> awake_ = 0;   ///< other threads, spinning
  std::atomic<bool> is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cuszi::gpu

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace cuszi::gpu {

/// Threads of the host for what it decides between kernels. They are started by the first call and
/// sleep between calls; a call does not wait for those that wake up late, and wakes no more than it
/// has items for.
class HostThreads {
 public:
  /// Uses at most `most` threads, the caller's among them.
  explicit HostThreads(unsigned most = 16) : most_(most) {}
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;
  ~HostThreads();

  /// Calls each(i) for all i below `count`, in any order. Throws what one of the calls has thrown.
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
  std::atomic<std::uint32_t> inside_ = 0;  ///< other threads in the job; is_open
  std::atomic<Job*> job_ = nullptr;        ///< that others may take part in while it is open
  std::atomic<std::uint32_t> awake_ = 0;   ///< other threads that need not be woken
  std::atomic<bool> is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cuszi::gpu

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cuszi::gpu {

/// Threads of the host for what it decides between kernels. They are started by the first call and
/// sleep between calls; a call does not wait for those that wake up late.
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
  struct Job {
    std::size_t count;
    const std::function<void(std::size_t)>& each;
    std::atomic<std::size_t> next{0};
    std::exception_ptr error;  ///< guarded
  };

  void start();
  void serve();
  void await_briefly(unsigned seen) const;
  void take_part(Job& job);

  unsigned most_;
  std::mutex guard_;
  std::condition_variable job_changed_;
  std::condition_variable all_left_;
  Job* job_ = nullptr;                ///< that others may take part in
  std::atomic<unsigned> rounds_ = 0;  ///< jobs so far; changes while guarded
  std::size_t others_ = 0;            ///< threads in the job beside the caller's
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cuszi::gpu

#include "gpu/runtime/host_threads.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>

#include "cpu_ref/base/thread_count.hpp"

namespace cuszi::gpu {

namespace {

constexpr std::uint32_t is_open = std::uint32_t{1} << 31;  ///< bit of HostThreads::inside_

}  // namespace

/// Lock-free: a dozen threads that wake for a job of microseconds would contend.
struct HostThreads::Job {
  std::size_t count;
  const std::function<void(std::size_t)>& each;
  int threads;  ///< for nested loops of each participant
  std::atomic<std::size_t> next{0};
  std::mutex guard;
  std::exception_ptr error;  ///< guarded

  void take_part() {
    const ThreadsScope scope(threads);
    try {
      for (std::size_t i = next++; i < count; i = next++) each(i);
    } catch (...) {
      const std::lock_guard lock(guard);
      error = std::current_exception();
    }
  }
};

HostThreads::~HostThreads() {
  is_ending_ = true;
  ++rounds_;
  rounds_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HostThreads::for_each(std::size_t count, const std::function<void(std::size_t)>& each) {
  if (count == 1) return each(0);  // may be called from a worker
  const int threads = threads_in_use();
  Job job{count, each, threads, {}, {}, {}};
  if (count > 1 && threads > 1) {
    start();
    job_ = &job;
    inside_ = is_open;
    ++rounds_;
    wake(std::min(count, static_cast<std::size_t>(threads)) - 1);
  }
  job.take_part();
  inside_ &= ~is_open;
  while (inside_ != 0) std::this_thread::yield();
  if (job.error) std::rethrow_exception(job.error);
}

void HostThreads::start() {
  const unsigned wanted = std::min(static_cast<unsigned>(threads_in_use()), most_) - 1;
  try {
    while (threads_.size() < wanted) threads_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    // Continues with fewer threads.
  }
}

void HostThreads::wake(std::size_t count) {
  count = std::min(count, threads_.size());
  for (std::size_t i = awake_; i < count; ++i) rounds_.notify_one();
}

/// Spins before sleeping: waking costs as much as many jobs, which come in quick succession.
void HostThreads::await_change(std::uint32_t seen) {
  constexpr auto soon = std::chrono::microseconds(200);
  const auto end = std::chrono::steady_clock::now() + soon;
  ++awake_;
  while (rounds_ == seen && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  --awake_;
  rounds_.wait(seen);
}

bool HostThreads::join() {
  std::uint32_t inside = inside_;
  while ((inside & is_open) != 0) {
    if (inside_.compare_exchange_weak(inside, inside + 1)) return true;
  }
  return false;
}

void HostThreads::serve() {
  std::uint32_t seen = 0;
  for (;;) {
    await_change(seen);
    seen = rounds_;
    if (is_ending_) return;
    if (!join()) continue;
    job_.load()->take_part();
    --inside_;
  }
}

}  // namespace cuszi::gpu

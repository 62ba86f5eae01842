#include "gpu/runtime/host_threads.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "core/base/thread_count.hpp"

namespace cuszi::gpu {

HostThreads::~HostThreads() {
  {
    const std::lock_guard lock(guard_);
    is_ending_ = true;
  }
  job_changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HostThreads::for_each(std::size_t count, const std::function<void(std::size_t)>& each) {
  if (count == 1) return each(0);  // may be called by a thread of these
  Job job{count, each, {}, {}};
  if (count > 1) {
    start();
    {
      const std::lock_guard lock(guard_);
      job_ = &job;
      ++rounds_;
    }
    job_changed_.notify_all();
  }
  take_part(job);
  std::unique_lock lock(guard_);
  job_ = nullptr;
  all_left_.wait(lock, [&] { return others_ == 0; });
  if (job.error) std::rethrow_exception(job.error);
}

void HostThreads::start() {
  const unsigned wanted = std::min(static_cast<unsigned>(usable_threads()), most_) - 1;
  try {
    while (threads_.size() < wanted) threads_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    // No more threads are to be had: those that are there do.
  }
}

/// Waits for the next job without sleeping: to wake a thread takes as long as many a job does, and
/// those of a frame come in quick succession.
void HostThreads::await_briefly(unsigned seen) const {
  constexpr auto soon = std::chrono::microseconds(200);
  const auto end = std::chrono::steady_clock::now() + soon;
  while (rounds_ == seen && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

void HostThreads::serve() {
  unsigned seen = 0;
  std::unique_lock lock(guard_, std::defer_lock);
  for (;;) {
    await_briefly(seen);
    lock.lock();
    job_changed_.wait(lock, [&] { return is_ending_ || (job_ != nullptr && rounds_ != seen); });
    if (is_ending_) return;
    seen = rounds_;
    Job& job = *job_;
    ++others_;
    lock.unlock();
    take_part(job);
    lock.lock();
    if (--others_ == 0) all_left_.notify_one();
    lock.unlock();
  }
}

void HostThreads::take_part(Job& job) {
  try {
    for (std::size_t i = job.next++; i < job.count; i = job.next++) job.each(i);
  } catch (...) {
    const std::lock_guard lock(guard_);
    job.error = std::current_exception();
  }
}

}  // namespace cuszi::gpu

#include "cpu_ref/base/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "cpu_ref/base/thread_count.hpp"

namespace cuszi {

namespace {

/// Calls may wait for each other, so that each gets a thread at once; loops share a limited number.
class ThreadPool {
 public:
  void run(int others, const std::function<void()>& part) {
    Loop loop{part, others, 0, {}};
    {
      const std::scoped_lock lock(mutex_);
      while (threads_ < std::min(others, most_) + in_calls_ && start_thread()) {
      }
      loops_.push_back(&loop);
      for (int i = 0; i < std::min(others, waiting_); ++i) wanted_.notify_one();
    }
    part();
    std::unique_lock lock(mutex_);
    std::erase(loops_, &loop);
    loop.left.wait(lock, [&] { return loop.inside == 0; });
  }

  /// `work` must not throw. False if out of threads.
  bool call(std::function<void()> work) {
    const std::scoped_lock lock(mutex_);
    if (waiting_ <= static_cast<int>(calls_.size()) && !start_thread()) return false;
    calls_.push_back(std::move(work));
    ++in_calls_;
    wanted_.notify_one();
    return true;
  }

 private:
  struct Loop {
    const std::function<void()>& part;
    int places;      ///< threads that may still join
    int inside = 0;  ///< joined threads
    std::condition_variable left;
  };

  static constexpr int spare_threads = 2;  ///< left to other parts of the process if threads run
                                           ///< out

  bool start_thread() {
    try {
      std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {  // some threads end, to leave others to the process
      most_ = std::max(threads_ - in_calls_ - spare_threads, 0);
      wanted_.notify_all();
      return false;
    }
    ++threads_;
    return true;
  }

  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++waiting_;
      wanted_.wait(
          lock, [&] { return !calls_.empty() || !loops_.empty() || threads_ > most_ + in_calls_; });
      --waiting_;
      if (!calls_.empty()) {
        make_call(lock);
      } else if (!loops_.empty()) {
        join_loop(lock);
      } else {
        break;
      }
    }
    --threads_;
  }

  void make_call(std::unique_lock<std::mutex>& lock) {
    std::function<void()> work = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    --in_calls_;
  }

  void join_loop(std::unique_lock<std::mutex>& lock) {
    Loop& loop = *loops_.front();
    if (--loop.places == 0) loops_.pop_front();
    ++loop.inside;
    lock.unlock();
    loop.part();
    lock.lock();
    if (--loop.inside == 0) loop.left.notify_one();
  }

  std::mutex mutex_;  ///< guards all below
  std::condition_variable wanted_;
  std::deque<std::function<void()>> calls_;  ///< not begun
  std::deque<Loop*> loops_;                  ///< that more threads may join
  int threads_ = 0;
  int in_calls_ = 0;  ///< calls, begun or not
  int waiting_ = 0;
  int most_ = std::max(most_useful_threads, static_cast<int>(std::thread::hardware_concurrency()));
};

// Never destroyed: its threads may outlive static objects. A forked child has none of them and
// makes a new pool.
std::atomic<ThreadPool*> process_pool = nullptr;

[[maybe_unused]] const int at_fork =
    pthread_atfork(nullptr, nullptr, [] { process_pool = nullptr; });

ThreadPool& pool() {
  ThreadPool* there = process_pool;
  if (there != nullptr) return *there;
  auto fresh = std::make_unique<ThreadPool>();
  if (process_pool.compare_exchange_strong(there, fresh.get())) there = fresh.release();
  return *there;
}

}  // namespace

bool Task::try_start(const std::function<void()>& work) {
  wait();
  const auto task = std::make_shared<std::packaged_task<void()>>(work);
  std::future<void> running = task->get_future();
  if (!pool().call([task] { (*task)(); })) return false;
  running_ = std::move(running);
  return true;
}

void on_tracks(std::size_t tracks, const std::function<void(std::size_t)>& part,
               const std::function<void(std::size_t)>& fewer) {
  std::deque<Task> others;
  for (std::size_t track = 1; track < tracks; ++track) {
    const auto run = [&part, track, threads = threads_in_use()] {
      const ThreadsScope as_callers(threads);
      part(track);
    };
    if (others.emplace_back().try_start(run)) continue;
    fewer(track);
    break;
  }
  part(0);
  for (Task& other : others) other.wait();
}

void cpu::run_in_threads(int others, const std::function<void()>& part) {
  if (others > 0) {
    pool().run(others, part);
  } else {
    part();
  }
}

}  // namespace cuszi

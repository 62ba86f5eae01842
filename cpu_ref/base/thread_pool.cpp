#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/thread_count.hpp"

namespace cuszi::cpu {

namespace {

class ThreadPool {
 public:
  void run(int others, const std::function<void()>& part) {
    Job job{part, others, 0, {}};
    {
      const std::scoped_lock lock(mutex_);
      start_up_to(others);
      jobs_.push_back(&job);
      for (int i = 0; i < std::min(others, waiting_); ++i) wanted_.notify_one();
    }
    part();
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);
    job.left.wait(lock, [&] { return job.inside == 0; });
  }

 private:
  struct Job {
    const std::function<void()>& part;
    int places;      ///< threads that may still join
    int inside = 0;  ///< joined threads
    std::condition_variable left;
  };

  static constexpr int spare_threads = 2;  ///< left to other parts of the process if threads run
                                           ///< out

  void start_up_to(int threads) {
    while (threads_ < std::min(threads, most_)) {
      try {
        std::thread([this] { serve(); }).detach();
        ++threads_;
      } catch (const std::system_error&) {  // some threads end, to leave others to the process
        most_ = std::max(threads_ - spare_threads, 0);
        wanted_.notify_all();
      }
    }
  }

  void serve() {
    const ThreadsScope alone(1);
    std::unique_lock lock(mutex_);
    while (true) {
      ++waiting_;
      wanted_.wait(lock, [&] { return !jobs_.empty() || threads_ > most_; });
      --waiting_;
      if (threads_ > most_) break;
      Job& job = *jobs_.front();
      if (--job.places == 0) jobs_.pop_front();
      ++job.inside;
      lock.unlock();
      job.part();
      lock.lock();
      if (--job.inside == 0) job.left.notify_one();
    }
    --threads_;
  }

  std::mutex mutex_;  ///< guards all below
  std::condition_variable wanted_;
  std::deque<Job*> jobs_;  ///< that more threads may join
  int threads_ = 0;
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

void run_in_threads(int others, const std::function<void()>& part) {
  if (others > 0) {
    pool().run(others, part);
  } else {
    part();
  }
}

}  // namespace cuszi::cpu

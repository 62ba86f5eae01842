#include "codec/io/background.hpp"

#include <system_error>
#include <utility>

namespace cuszi {

CallQueue::~CallQueue() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  added_.notify_one();
  thread_.join();
}

void CallQueue::add(std::function<void()> call) {
  if (!start()) return call();
  {
    const std::scoped_lock lock(mutex_);
    calls_.push_back(std::move(call));
    ++undone_;
  }
  added_.notify_one();
}

void CallQueue::wait() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return undone_ == 0; });
}

/// False if out of threads.
bool CallQueue::start() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { serve(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void CallQueue::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    added_.wait(lock, [this] { return is_ending_ || !calls_.empty(); });
    if (calls_.empty()) return;
    {
      const std::function<void()> call = std::move(calls_.front());
      calls_.pop_front();
      lock.unlock();
      call();
    }  // destroy first
    lock.lock();
    if (--undone_ == 0) done_.notify_all();
  }
}

}  // namespace cuszi

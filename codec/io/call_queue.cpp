#include "codec/io/call_queue.hpp"

#include <utility>

namespace cuszi {

void CallQueue::add(std::function<void()> call) {
  {
    const std::scoped_lock lock(mutex_);
    calls_.push_back(std::move(call));
    if (std::exchange(is_running_, true)) return;
  }
  running_.start([this] { make_calls(); });
}

void CallQueue::make_calls() {
  std::unique_lock lock(mutex_);
  while (!calls_.empty()) {
    std::function<void()> call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    call();
    call = nullptr;
    lock.lock();
  }
  is_running_ = false;
}

}  // namespace cuszi

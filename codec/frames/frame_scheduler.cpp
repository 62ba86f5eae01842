#include "codec/frames/frame_scheduler.hpp"

#include <algorithm>
#include <system_error>
#include <thread>

#include "codec/frames/device_memory.hpp"
#include "core/base/thread_count.hpp"

namespace cuszi {

namespace {

/// Ends a frame that has to wait for one that has failed.
struct Abandoned {};

constexpr std::size_t number_of(FrameStep step) { return static_cast<std::size_t>(step); }

}  // namespace

std::vector<Backend*> side_by_side(Backend& backend, std::uint64_t frames, ByteCount frame_bytes) {
  const std::size_t most = frame_bytes < large_frame ? most_tracks : most_large_tracks;
  std::vector<Backend*> backends{&backend};
  while (backends.size() < std::min<std::uint64_t>(frames, most)) {
    Backend* const next = backends.back()->sibling(frame_bytes);
    if (next == nullptr) break;
    backends.push_back(next);
  }
  return backends;
}

bool FrameTicket::is_first() const {
  const std::scoped_lock lock(tracks_.mutex_);
  return tracks_.passed_[number_of(FrameStep::end)] == frame_;
}

void FrameTicket::await(FrameStep step, std::uint64_t frames) const {
  std::unique_lock lock(tracks_.mutex_);
  tracks_.changed_.wait(
      lock, [&] { return tracks_.passed_[number_of(step)] >= frames || tracks_.failed_ < frame_; });
  if (tracks_.failed_ < frame_) throw Abandoned();
}

void FrameTicket::pass(FrameStep step) const {
  {
    const std::scoped_lock lock(tracks_.mutex_);
    for (std::size_t i = 0; i <= number_of(step); ++i) {
      tracks_.passed_[i] = std::max(tracks_.passed_[i], frame_ + 1);
    }
  }
  tracks_.changed_.notify_all();
}

void FrameScheduler::run(std::uint64_t frames,
                         const std::function<void(const FrameTicket&)>& work) {
  frames_ = frames;
  next_ = 0;
  passed_ = {};
  {
    std::vector<std::jthread> others;
    try {
      for (std::size_t track = 1; track < std::min<std::uint64_t>(tracks_, frames); ++track) {
        others.emplace_back(
            [this, track, &work, threads = threads_in_use(), device = device_in_use()] {
              const ThreadsScope as_callers(threads);
              const DeviceScope scope(device);
              follow(track, work);
            });
      }
    } catch (const std::system_error&) {
      // No more threads are to be had: fewer tracks do.
    }
    follow(0, work);
  }
  if (failure_) std::rethrow_exception(failure_);
}

std::optional<std::uint64_t> FrameScheduler::next_frame() {
  const std::scoped_lock lock(mutex_);
  if (failure_ || next_ == frames_) return std::nullopt;
  return next_++;
}

void FrameScheduler::follow(std::size_t track,
                            const std::function<void(const FrameTicket&)>& work) {
  while (const auto frame = next_frame()) {
    const FrameTicket ticket(*this, *frame, track);
    try {
      work(ticket);
      ticket.in_order(FrameStep::end, [] {});
    } catch (const Abandoned&) {
      return;
    } catch (...) {
      fail(*frame, std::current_exception());
      return;
    }
  }
}

void FrameScheduler::fail(std::uint64_t frame, std::exception_ptr failure) {
  {
    const std::scoped_lock lock(mutex_);
    if (frame < failed_) {
      failed_ = frame;
      failure_ = std::move(failure);
    }
  }
  changed_.notify_all();
}

}  // namespace cuszi

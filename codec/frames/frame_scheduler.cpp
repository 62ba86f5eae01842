#include "codec/frames/frame_scheduler.hpp"

#include <algorithm>

#include "codec/frames/device_memory.hpp"
#include "core/base/error.hpp"
#include "cpu_ref/base/thread_pool.hpp"

namespace cuszi {

namespace {

/// A frame that waits for a failed one.
struct Abandoned {};

/// A frame that waits for a handed-over one, which its track can take.
struct Postponed {};

constexpr std::size_t number_of(FrameStep step) { return static_cast<std::size_t>(step); }

}  // namespace

std::vector<Track> side_by_side(std::span<Backend* const> devices, std::uint64_t frames,
                                ByteCount frame_bytes) {
  const std::uint64_t sharing = std::clamp<std::uint64_t>(frames, 1, devices.size());
  const std::uint64_t most = std::min<std::uint64_t>(
      frame_bytes < large_frame ? most_tracks : most_large_tracks, ceil_div(frames, sharing));
  std::vector<Track> tracks;
  for (std::size_t device = 0; device < sharing; ++device) {
    tracks.push_back({devices[device], device, 0});
    try {
      for (std::size_t place = 1; place < most; ++place) {
        Backend* const next = tracks.back().backend->sibling(frame_bytes);
        if (next == nullptr) break;
        tracks.push_back({next, device, place});
      }
    } catch (const DeviceError&) {
      // The device's first frame reports the error.
    }
  }
  return tracks;
}

bool FrameTicket::is_first() const {
  const std::scoped_lock lock(scheduler_.mutex_);
  return scheduler_.passed_[number_of(FrameStep::end)] == frame_;
}

void FrameTicket::await(FrameStep step, std::uint64_t frames) const {
  std::unique_lock lock(scheduler_.mutex_);
  const auto is_there = [&] { return scheduler_.passed_[number_of(step)] >= frames; };
  scheduler_.changed_.wait(lock, [&] {
    return is_there() || scheduler_.failed_ < frame_ || scheduler_.waits_before(frame_);
  });
  if (scheduler_.failed_ < frame_) throw Abandoned();
  if (!is_there()) throw Postponed();
}

bool FrameTicket::has_taken(FrameStep step) const {
  const std::scoped_lock lock(scheduler_.mutex_);
  return scheduler_.passed_[number_of(step)] > frame_;
}

void FrameTicket::pass(FrameStep step) const {
  {
    const std::scoped_lock lock(scheduler_.mutex_);
    for (std::size_t i = 0; i <= number_of(step); ++i) {
      scheduler_.passed_[i] = std::max(scheduler_.passed_[i], frame_ + 1);
    }
  }
  scheduler_.changed_.notify_all();
}

FrameScheduler::FrameScheduler(std::span<const Track> tracks, DeviceLoss lost)
    : lost_(std::move(lost)), devices_(tracks.back().device + 1) {
  for (const Track& track : tracks) device_of_.push_back(track.device);
}

void FrameScheduler::run(std::uint64_t frames, const Work& bring, const Work& work) {
  frames_ = frames;
  passed_ = {};
  handed_over_.clear();
  for (std::size_t i = 0; i < devices_.size(); ++i) devices_[i].next = i;
  const auto follow = [&, device = device_in_use()](std::size_t track) {
    const DeviceScope scope(device);
    while (work_on(track, bring, work)) {
    }
  };
  on_tracks(count(), follow, [this](std::size_t tracks) { lose_devices_after(tracks); });
  if (failure_) std::rethrow_exception(failure_);
}

/// Out of threads: the devices of the first `tracks` tracks take all frames.
void FrameScheduler::lose_devices_after(std::size_t tracks) {
  {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = device_of_[tracks - 1] + 1; i < devices_.size(); ++i) {
      devices_[i].is_lost = true;
    }
  }
  changed_.notify_all();
}

FrameScheduler::DeviceShare* FrameScheduler::next_share(std::size_t device, std::uint64_t& frame) {
  frame = handed_over_.empty() ? none : *handed_over_.begin();
  DeviceShare* share = nullptr;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (i != device && !devices_[i].is_lost) continue;
    if (devices_[i].next >= std::min(frames_, frame)) continue;
    share = &devices_[i];
    frame = share->next;
  }
  return share;
}

/// The device's next frame, or a failed device's; waits while one may be handed over.
std::optional<std::uint64_t> FrameScheduler::next_frame(std::size_t device) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (failure_ || devices_[device].is_lost) return std::nullopt;
    std::uint64_t frame = none;
    if (DeviceShare* const share = next_share(device, frame); share != nullptr) {
      share->next += devices_.size();
      return frame;
    }
    if (frame != none) {
      handed_over_.erase(frame);
      return frame;
    }
    const std::uint64_t ended = passed_[number_of(FrameStep::end)];
    if (devices_.size() == 1 || ended == frames_) return std::nullopt;
    changed_.wait(lock);
  }
}

/// False if none is left.
bool FrameScheduler::work_on(std::size_t track, const Work& bring, const Work& work) {
  const std::size_t device = device_of_[track];
  std::unique_lock bringing(devices_[device].bringing);
  const auto frame = next_frame(device);
  if (!frame) return false;
  try {
    const FrameTicket ticket(*this, *frame, track);
    bring(ticket);
    bringing.unlock();
    work(ticket);
    ticket.in_order(FrameStep::end, [] {});
    return true;
  } catch (const Abandoned&) {
    return false;
  } catch (const Postponed&) {
    begin_anew(*frame);
    return true;
  } catch (const DeviceError& error) {
    if (hand_over(*frame, device, error.what())) return false;
    fail(*frame, std::current_exception());
  } catch (...) {
    fail(*frame, std::current_exception());
  }
  return false;
}

/// Requeues the device's frame; false if it is the last device.
bool FrameScheduler::hand_over(std::uint64_t frame, std::size_t device, const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    const auto is_there = [](const DeviceShare& share) { return !share.is_lost; };
    if (!devices_[device].is_lost) {
      if (std::count_if(devices_.begin(), devices_.end(), is_there) == 1) return false;
      devices_[device].is_lost = true;
      if (lost_) lost_(device, why);
    }
    handed_over_.insert(frame);
  }
  changed_.notify_all();
  return true;
}

void FrameScheduler::begin_anew(std::uint64_t frame) {
  {
    const std::scoped_lock lock(mutex_);
    handed_over_.insert(frame);
  }
  changed_.notify_all();
}

/// Whether an earlier frame lost its device and is not taken.
bool FrameScheduler::waits_before(std::uint64_t frame) const {
  if (!handed_over_.empty() && *handed_over_.begin() < frame) return true;
  return std::any_of(devices_.begin(), devices_.end(), [&](const DeviceShare& share) {
    return share.is_lost && share.next < std::min(frame, frames_);
  });
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

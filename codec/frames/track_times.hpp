#pragma once

#include <mutex>
#include <vector>

#include "codec/frames/call_times.hpp"
#include "codec/frames/frame_scheduler.hpp"
#include "core/base/unmovable.hpp"

namespace cuszi {

/// Overlapping calls count once in the total; steps add up.
class TrackTimes : Unmovable {
 public:
  TrackTimes(CallTimes& whole, std::size_t tracks) : whole_(whole), steps_(tracks) {}
  ~TrackTimes() {
    if (!is_alone()) {
      for (const StepTimes& steps : steps_) whole_.steps().add(steps);
    }
  }

  /// The watcher sees only the oldest frame's progress.
  template <class Call>
  decltype(auto) measure(const FrameTicket& ticket, const Call& call) {
    if (is_alone()) return whole_.measure([&]() -> decltype(auto) { return call(whole_.steps()); });
    StepTimes& steps = steps_[ticket.track()];
    steps.watch([this, ticket](double share) {
      if (ticket.is_first()) whole_.steps().tell(share);
    });
    const Presence presence(*this);
    return call(steps);
  }

 private:
  class Presence : Unmovable {
   public:
    explicit Presence(TrackTimes& times) : times_(times) {
      const std::scoped_lock lock(times_.mutex_);
      if (times_.calls_++ == 0) times_.clock_ = Stopwatch();
    }
    ~Presence() {
      const std::scoped_lock lock(times_.mutex_);
      if (--times_.calls_ == 0) times_.whole_.add(times_.clock_.seconds());
    }

   private:
    TrackTimes& times_;
  };

  bool is_alone() const { return steps_.size() == 1; }

  CallTimes& whole_;
  std::vector<StepTimes> steps_;  ///< per track
  std::mutex mutex_;              ///< guards the rest, and whole_'s seconds
  std::size_t calls_ = 0;         ///< running
  Stopwatch clock_;               ///< since calls_ was 0
};

}  // namespace cuszi

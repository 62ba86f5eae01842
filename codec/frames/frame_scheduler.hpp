#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "core/backend/backend.hpp"

namespace cuszi {

/// How many frames of a field may be in work at a time, and how many larger ones: while the host
/// decides on one, or waits for it, a device goes on with the others.
inline constexpr std::size_t most_tracks = 3;
inline constexpr std::size_t most_large_tracks = 2;
inline constexpr ByteCount large_frame = ByteCount{192} << 20;

/// The backends for frames that are in work at a time: this one and those beside it, as many as
/// there can be for so many frames of this size.
std::vector<Backend*> side_by_side(Backend& backend, std::uint64_t frames, ByteCount frame_bytes);

/// What frames do one after the other, in their order, whatever else they do at a time. The first
/// one alone takes `choose`, which others wait for; whoever takes a later step has taken it, too.
enum class FrameStep : std::size_t { start, look, choose, place, end };

class FrameScheduler;

/// A frame on its track.
class FrameTicket {
 public:
  FrameTicket(FrameScheduler& tracks, std::uint64_t frame, std::size_t track)
      : tracks_(tracks), frame_(frame), track_(track) {}

  std::uint64_t frame() const { return frame_; }
  std::size_t track() const { return track_; }

  /// Whether all frames before have ended.
  bool is_first() const;

  /// Waits until all frames before have taken this step.
  void await(FrameStep step) const { await(step, frame_); }
  /// Waits until the first frame has, for one that comes after it.
  void await_first(FrameStep step) const { await(step, std::min<std::uint64_t>(frame_, 1)); }

  /// Does `work` as this step of the frame, after all frames before have taken it. Those that
  /// follow may do so then, and whatever comes before it.
  template <class Work>
  void in_order(FrameStep step, const Work& work) const {
    await(step);
    work();
    pass(step);
  }

 private:
  /// Waits until so many frames have taken it, or one before this has failed.
  void await(FrameStep step, std::uint64_t frames) const;
  void pass(FrameStep step) const;

  FrameScheduler& tracks_;
  std::uint64_t frame_;
  std::size_t track_;
};

/// Works on the frames of a field, on each track on one at a time, in a thread of its own.
class FrameScheduler {
 public:
  explicit FrameScheduler(std::size_t tracks) : tracks_(tracks) {}

  std::size_t count() const { return tracks_; }

  /// Calls work(turn) for so many frames, which are begun in their order. Throws what the first of
  /// those has thrown that failed, when those before it are done; none after it gets any further
  /// than its next step.
  void run(std::uint64_t frames, const std::function<void(const FrameTicket&)>& work);

 private:
  friend class FrameTicket;
  static constexpr std::size_t steps = 5;
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  std::optional<std::uint64_t> next_frame();
  void follow(std::size_t track, const std::function<void(const FrameTicket&)>& work);
  void fail(std::uint64_t frame, std::exception_ptr failure);

  std::size_t tracks_;
  std::mutex mutex_;  ///< of all that follows
  std::condition_variable changed_;
  std::uint64_t frames_ = 0;
  std::uint64_t next_ = 0;
  std::array<std::uint64_t, steps> passed_{};  ///< how many frames have taken each step
  std::uint64_t failed_ = none;                ///< the first frame that has
  std::exception_ptr failure_;
};

}  // namespace cuszi

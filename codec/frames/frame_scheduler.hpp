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

/// The most frames of a field in work at a time, and the most of large frames: a device works on
/// others while the host decides on one, or waits for it.
inline constexpr std::size_t most_tracks = 3;
inline constexpr std::size_t most_large_tracks = 2;
inline constexpr ByteCount large_frame = ByteCount{192} << 20;

/// The backends for frames that are in work at a time: `backend` and its siblings, as many as the
/// device allows for `frames` frames of `frame_bytes` bytes.
std::vector<Backend*> side_by_side(Backend& backend, std::uint64_t frames, ByteCount frame_bytes);

/// The steps that frames take one after the other, in the frames' order. Only the first frame takes
/// `choose`, for which the others wait. A frame that takes a step has taken the steps before it.
enum class FrameStep : std::size_t { start, look, choose, place, end };

class FrameScheduler;

/// A frame in work on one track of a FrameScheduler.
class FrameTicket {
 public:
  FrameTicket(FrameScheduler& tracks, std::uint64_t frame, std::size_t track)
      : tracks_(tracks), frame_(frame), track_(track) {}

  std::uint64_t frame() const { return frame_; }
  std::size_t track() const { return track_; }

  /// Whether all earlier frames have ended.
  bool is_first() const;

  /// Waits until all earlier frames have taken this step.
  void await(FrameStep step) const { await(step, frame_); }
  /// Waits until the first frame has taken this step; the first frame itself does not wait.
  void await_first(FrameStep step) const { await(step, std::min<std::uint64_t>(frame_, 1)); }

  /// Does `work` as this step of the frame, after all earlier frames have taken the step. Later
  /// frames may take the step, and the steps before it, afterwards.
  template <class Work>
  void in_order(FrameStep step, const Work& work) const {
    await(step);
    work();
    pass(step);
  }

 private:
  /// Waits until `frames` frames have taken the step. Throws if an earlier frame has failed.
  void await(FrameStep step, std::uint64_t frames) const;
  void pass(FrameStep step) const;

  FrameScheduler& tracks_;
  std::uint64_t frame_;
  std::size_t track_;
};

/// Works on the frames of a field: each track on one frame at a time, in a thread of its own.
class FrameScheduler {
 public:
  explicit FrameScheduler(std::size_t tracks) : tracks_(tracks) {}

  std::size_t count() const { return tracks_; }

  /// Calls work(ticket) for frames 0 to `frames` - 1, which begin in this order. If frames fail,
  /// the exception of the first of them is thrown once all earlier frames are done; later frames
  /// stop at their next step.
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

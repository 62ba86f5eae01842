#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/backend/backend.hpp"

namespace cuszi {

/// The most frames of a field in work at a time, and the most of large frames: a device works on
/// others while the host decides on one, or waits for it.
inline constexpr std::size_t most_tracks = 3;
inline constexpr std::size_t most_large_tracks = 2;
inline constexpr ByteCount large_frame = ByteCount{192} << 20;

/// Where one frame at a time is worked on: by a backend of one of several devices.
struct Track {
  Backend* backend;
  std::size_t device;  ///< its number among those that share the frames
  std::size_t place;   ///< its number among the tracks of this device
};

/// The tracks for `frames` frames of `frame_bytes` bytes: of each device its backend and siblings
/// of it, as many as the device allows for its share of the frames. Every device has one at least,
/// if there are as many frames.
std::vector<Track> side_by_side(std::span<Backend* const> devices, std::uint64_t frames,
                                ByteCount frame_bytes);

/// Takes note that a device, by its number, is given up, and why.
using DeviceLoss = std::function<void(std::size_t device, const std::string& why)>;

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
  /// frames may take the step, and the steps before it, afterwards. A frame that has taken the step
  /// before it was handed over does not do the work again.
  template <class Work>
  void in_order(FrameStep step, const Work& work) const {
    await(step);
    if (has_taken(step)) return;
    work();
    pass(step);
  }

  /// Does `work` as in_order() does, also for a frame that was handed over and has done it before.
  /// It may then go on beside that of later frames.
  template <class Work>
  void again_in_order(FrameStep step, const Work& work) const {
    await(step);
    work();
    pass(step);
  }

 private:
  /// Waits until `frames` frames have taken the step. Throws if an earlier frame has failed, or was
  /// handed over and has nobody who works on it.
  void await(FrameStep step, std::uint64_t frames) const;
  bool has_taken(FrameStep step) const;
  void pass(FrameStep step) const;

  FrameScheduler& tracks_;
  std::uint64_t frame_;
  std::size_t track_;
};

/// Works on the frames of a field: each track on one frame at a time, in a thread of its own. The
/// tracks of one of several devices take every so many-th frame. What a device that fails has not
/// done goes to the others, from the first frame on: later ones that wait for it begin anew.
class FrameScheduler {
 public:
  /// All tracks on one device.
  explicit FrameScheduler(std::size_t tracks) : device_of_(tracks, 0), devices_(1) {}

  /// Tracks of all devices, one after the other. `lost` is told of devices that are given up: of
  /// those that throw a DeviceError while there are others. One call at a time.
  explicit FrameScheduler(std::span<const Track> tracks, DeviceLoss lost = {});

  std::size_t count() const { return device_of_.size(); }
  std::size_t devices() const { return devices_.size(); }

  using Work = std::function<void(const FrameTicket&)>;

  /// Calls bring(ticket) and work(ticket) for frames 0 to `frames` - 1, of each device in this
  /// order; bring() for one frame of a device at a time. If frames fail, the exception of the first
  /// of them is thrown once all earlier frames are done; later frames stop at their next step.
  void run(std::uint64_t frames, const Work& bring, const Work& work);
  void run(std::uint64_t frames, const Work& work) {
    run(
        frames, [](const FrameTicket&) {}, work);
  }

 private:
  friend class FrameTicket;
  static constexpr std::size_t steps = 5;
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  struct DeviceShare {
    std::uint64_t next = 0;  ///< the first of its frames that nobody has begun
    bool is_lost = false;
    std::mutex bringing;  ///< taken before the scheduler's
  };

  void start_threads(const Work& bring, const Work& work);
  std::optional<std::uint64_t> next_frame(std::size_t device);
  /// The share that `device` takes the next frame of; nullptr if it is one of handed_over_.
  DeviceShare* next_share(std::size_t device, std::uint64_t& frame);
  void follow(std::size_t track, const Work& bring, const Work& work);
  bool work_on(std::size_t track, const Work& bring, const Work& work);
  bool hand_over(std::uint64_t frame, std::size_t device, const std::string& why);
  void begin_anew(std::uint64_t frame);
  bool waits_before(std::uint64_t frame) const;
  void fail(std::uint64_t frame, std::exception_ptr failure);

  std::vector<std::size_t> device_of_;  ///< each track
  DeviceLoss lost_;
  std::mutex mutex_;  ///< of all that follows
  std::condition_variable changed_;
  std::deque<DeviceShare> devices_;
  std::set<std::uint64_t> handed_over_;  ///< frames that nobody works on
  std::uint64_t frames_ = 0;
  std::array<std::uint64_t, steps> passed_{};  ///< how many frames have taken each step
  std::uint64_t failed_ = none;                ///< the first frame that has
  std::exception_ptr failure_;
};

}  // namespace cuszi

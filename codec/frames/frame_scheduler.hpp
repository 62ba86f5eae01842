#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
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

/// Frames in flight per device, and of large frames: the device works while the host decides.
inline constexpr std::size_t most_tracks = 3;
inline constexpr std::size_t most_large_tracks = 2;
inline constexpr ByteCount large_frame = ByteCount{192} << 20;

/// A backend that processes one frame at a time.
struct Track {
  Backend* backend;
  std::size_t device;  ///< index among all devices
  std::size_t place;   ///< index on the device
};

/// Tracks for `frames` frames: as many as each device allows, at least one each if frames suffice.
std::vector<Track> side_by_side(std::span<Backend* const> devices, std::uint64_t frames,
                                ByteCount frame_bytes);

using DeviceLoss = std::function<void(std::size_t device, const std::string& why)>;

/// Steps of a frame. Frames take each step in their order. Only the first frame takes `choose`, and
/// the others wait for it.
enum class FrameStep : std::size_t { start, look, choose, place, end };

class FrameScheduler;

/// A frame on its track; lets steps run in frame order.
class FrameTicket {
 public:
  FrameTicket(FrameScheduler& scheduler, std::uint64_t frame, std::size_t track)
      : scheduler_(scheduler), frame_(frame), track_(track) {}

  std::uint64_t frame() const { return frame_; }
  std::size_t track() const { return track_; }

  /// Whether all earlier frames have ended.
  bool is_first() const;

  /// Waits until all earlier frames have taken the step.
  void await(FrameStep step) const { await(step, frame_); }
  /// Waits until the first frame has taken the step, unless this is it.
  void await_first(FrameStep step) const { await(step, std::min<std::uint64_t>(frame_, 1)); }

  /// Runs `work` after all earlier frames took the step. Skipped if a handed-over frame took it
  /// before.
  template <class Work>
  void in_order(FrameStep step, const Work& work) const {
    await(step);
    if (has_taken(step)) return;
    work();
    pass(step);
  }

  /// Like in_order(), but repeats the step of a handed-over frame, beside later ones.
  template <class Work>
  void again_in_order(FrameStep step, const Work& work) const {
    await(step);
    work();
    pass(step);
  }

 private:
  /// Waits until `frames` frames have taken the step. Throws if an earlier one failed or waits for
  /// a device.
  void await(FrameStep step, std::uint64_t frames) const;
  bool has_taken(FrameStep step) const;
  void pass(FrameStep step) const;

  FrameScheduler& scheduler_;
  std::uint64_t frame_;
  std::size_t track_;
};

/// Each track runs frames in its own thread; devices take every n-th frame. Others take a failed
/// device's frames, and later ones that wait for them restart.
class FrameScheduler {
 public:
  explicit FrameScheduler(std::size_t tracks) : device_of_(tracks, 0), devices_(1) {}

  /// Grouped by device. A device that throws DeviceError is reported to `lost`, except the last.
  /// One run() at a time.
  explicit FrameScheduler(std::span<const Track> tracks, DeviceLoss lost = {});

  std::size_t count() const { return device_of_.size(); }
  std::size_t devices() const { return devices_.size(); }

  using Work = std::function<void(const FrameTicket&)>;

  /// bring() is serial per device. After a failure, earlier frames finish, later ones stop, and the
  /// first failed frame's exception is thrown.
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
    std::uint64_t next = 0;  ///< not started
    bool is_lost = false;
    std::mutex bringing;  ///< locked before mutex_
  };

  void lose_devices_after(std::size_t tracks);
  std::optional<std::uint64_t> next_frame(std::size_t device);
  /// Null if the frame is in handed_over_.
  DeviceShare* next_share(std::size_t device, std::uint64_t& frame);
  bool work_on(std::size_t track, const Work& bring, const Work& work);
  bool hand_over(std::uint64_t frame, std::size_t device, const std::string& why);
  void begin_anew(std::uint64_t frame);
  bool waits_before(std::uint64_t frame) const;
  void fail(std::uint64_t frame, std::exception_ptr failure);

  std::vector<std::size_t> device_of_;  ///< per track
  DeviceLoss lost_;
  std::mutex mutex_;  ///< guards the rest
  std::condition_variable changed_;
  std::deque<DeviceShare> devices_;
  std::set<std::uint64_t> handed_over_;  ///< frames without a track
  std::uint64_t frames_ = 0;
  std::array<std::uint64_t, steps> passed_{};  ///< frames that took each step
  std::uint64_t failed_ = none;                ///< first failed frame
  std::exception_ptr failure_;
};

/// One per track and one in transfer.
inline constexpr std::size_t frames_in_memory = most_tracks + 1;

enum class DeviceBuffer : std::size_t { field, archive, restored };

/// First buffer of the frames that stay on the device.
inline constexpr std::size_t first_kept_buffer = 3 * frames_in_memory;

/// Buffer number for Transfer::memory().
constexpr std::size_t buffer_for(DeviceBuffer kind, std::size_t place) {
  return static_cast<std::size_t>(kind) * frames_in_memory + place;
}

}  // namespace cuszi

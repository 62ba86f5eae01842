#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/frames/frame_scheduler.hpp"

namespace cuszi {

/// The most frames in a device's memory: those in work, and one that is brought or taken away
/// meanwhile.
inline constexpr std::size_t frames_in_memory = most_tracks + 1;

/// What a device's buffers hold, as many of each kind as there may be frames in memory.
enum class DeviceBuffer : std::size_t { field, archive, restored };

/// The first of the buffers for frames that stay on the device.
inline constexpr std::size_t first_kept_buffer = 3 * frames_in_memory;

/// The number, as Transfer::memory() counts them, of a kind's buffer for a track by its place.
constexpr std::size_t buffer_for(DeviceBuffer kind, std::size_t place) {
  return static_cast<std::size_t>(kind) * frames_in_memory + place;
}

}  // namespace cuszi

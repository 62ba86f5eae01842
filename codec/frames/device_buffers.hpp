#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/frames/frame_scheduler.hpp"

namespace cuszi {

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

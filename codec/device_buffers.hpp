#pragma once

#include <cstddef>
#include <cstdint>

namespace cuszi {

/// What a device's buffers hold. Of each kind there are two: while one is worked on, the other is
/// being filled or drained.
enum class DeviceBuffer : std::size_t { field = 0, archive = 2, restored = 4 };

/// The first of the buffers for frames that stay on the device.
inline constexpr std::size_t first_kept_buffer = 6;

/// The number, as in Transfer::memory(), of the buffer for frame `i`.
constexpr std::size_t buffer_for(DeviceBuffer kind, std::uint64_t i) {
  return static_cast<std::size_t>(kind) + i % 2;
}

}  // namespace cuszi

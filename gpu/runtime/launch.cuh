#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/units.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// A number of thread blocks as a launch takes it. Throws DeviceError if that is too small for it.
inline unsigned grid_of(std::uint64_t blocks) {
  constexpr std::uint64_t most = (std::uint64_t{1} << 31) - 1;
  if (blocks > most) {
    throw DeviceError("a frame needs " + std::to_string(blocks) +
                          " thread blocks, more than a GPU can run; use smaller frames or the CPU",
                      Setting::frame_size);
  }
  return static_cast<unsigned>(blocks);
}

/// Blocks of `threads` threads for `count` items, one item a thread. Throws DeviceError.
inline unsigned blocks_for(std::uint64_t count, unsigned threads) {
  return grid_of(ceil_div(count, threads));
}

}  // namespace cuszi::gpu

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

/// How kernels are launched whose threads take one item each, or items in turn.
struct ItemPolicy {
  static constexpr unsigned threads = 256;

  /// The number of this thread: its item, or its first one.
  __device__ static std::uint64_t first() {
    return std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  }
  /// The threads of the launch: how far apart the items of a thread are.
  __device__ static std::uint64_t step() { return std::uint64_t{gridDim.x} * threads; }
};

/// Launches a kernel with a thread for each of `items` items, of which there is at least one.
template <class... Params, class... Args>
void launch_items(DeviceContext& gpu, const char* name, std::uint64_t items,
                  void (*kernel)(Params...), const Args&... args) {
  kernel<<<blocks_for(items, ItemPolicy::threads), ItemPolicy::threads, 0, gpu.stream()>>>(args...);
  check_launch(name);
}

/// Launches a kernel whose threads take `items` items in turn, with at most `blocks` thread blocks
/// per multiprocessor.
template <class... Params, class... Args>
void launch_in_turn(DeviceContext& gpu, const char* name, std::uint64_t items, unsigned blocks,
                    void (*kernel)(Params...), const Args&... args) {
  const std::uint64_t most = std::uint64_t{blocks} * gpu.device().multiprocessors;
  launch_items(gpu, name, std::min(items, most * ItemPolicy::threads), kernel, args...);
}

}  // namespace cuszi::gpu

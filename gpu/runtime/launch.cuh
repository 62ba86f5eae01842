#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/units.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Throws DeviceError if a launch cannot have so many blocks.
inline unsigned grid_of(std::uint64_t blocks) {
  constexpr std::uint64_t most = (std::uint64_t{1} << 31) - 1;
  if (blocks > most) {
    throw DeviceError("a frame needs " + std::to_string(blocks) +
                          " thread blocks, more than a GPU can run; use smaller frames or the CPU",
                      Setting::frame_size);
  }
  return static_cast<unsigned>(blocks);
}

/// One item per thread. Throws DeviceError.
inline unsigned blocks_for(std::uint64_t count, unsigned threads) {
  return grid_of(ceil_div(count, threads));
}

/// Kernels with one item per thread, or grid-stride loops.
struct ItemPolicy {
  static constexpr unsigned threads = 256;

  __device__ static std::uint64_t first() {
    return std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  }
  /// Grid stride.
  __device__ static std::uint64_t step() { return std::uint64_t{gridDim.x} * threads; }
};

/// One thread per item; at least one item.
template <class... Params, class... Args>
void launch_items(DeviceContext& gpu, const char* name, std::uint64_t items,
                  void (*kernel)(Params...), const Args&... args) {
  kernel<<<blocks_for(items, ItemPolicy::threads), ItemPolicy::threads, 0, gpu.stream()>>>(args...);
  check_launch(name);
}

/// Grid-stride loop with at most `blocks` thread blocks per multiprocessor.
template <class... Params, class... Args>
void launch_in_turn(DeviceContext& gpu, const char* name, std::uint64_t items, unsigned blocks,
                    void (*kernel)(Params...), const Args&... args) {
  const std::uint64_t most = std::uint64_t{blocks} * gpu.device().multiprocessors;
  launch_items(gpu, name, std::min(items, most * ItemPolicy::threads), kernel, args...);
}

}  // namespace cuszi::gpu

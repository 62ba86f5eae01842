#pragma once

#include <algorithm>
#include <cstddef>
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

/// One thread per item of each frame, at least one; frames along grid.y.
template <class... Params, class... Args>
void launch_items_of(DeviceContext& gpu, const char* name, unsigned frames, std::uint64_t items,
                     void (*kernel)(Params...), const Args&... args) {
  const dim3 grid(blocks_for(items, ItemPolicy::threads), frames);
  kernel<<<grid, ItemPolicy::threads, 0, gpu.stream()>>>(args...);
  check_launch(name);
}

/// One thread per item; at least one item.
template <class... Params, class... Args>
void launch_items(DeviceContext& gpu, const char* name, std::uint64_t items,
                  void (*kernel)(Params...), const Args&... args) {
  launch_items_of(gpu, name, 1, items, kernel, args...);
}

/// Grid-stride loop with at most `blocks` thread blocks per multiprocessor.
template <class... Params, class... Args>
void launch_in_turn(DeviceContext& gpu, const char* name, std::uint64_t items, unsigned blocks,
                    void (*kernel)(Params...), const Args&... args) {
  const std::uint64_t most = std::uint64_t{blocks} * gpu.device().multiprocessors;
  launch_items(gpu, name, std::min(items, most * ItemPolicy::threads), kernel, args...);
}

/// True in the last of so many thread blocks to arrive; the others' writes are then visible.
/// `blocks_done` must start at 0. Called by all threads.
__device__ inline bool is_last_block(unsigned* blocks_done, unsigned blocks) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(blocks_done, 1U) == blocks - 1;
  __syncthreads();
  if (is_last) __threadfence();
  return is_last;
}

/// Inclusive prefix sum over the lanes of a warp.
template <class Int>
__device__ Int sum_to_lane(Int own) {
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const Int left = __shfl_up_sync(~0U, own, distance);
    if (threadIdx.x % 32 >= distance) own += left;
  }
  return own;
}

/// Exclusive prefix sum over a thread block.
template <unsigned threads>
__device__ std::uint32_t sum_before_thread(std::uint32_t own) {
  __shared__ std::uint32_t of_warp[threads / 32];
  std::uint32_t sum = sum_to_lane(own);
  if (threadIdx.x % 32 == 31) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) sum += of_warp[warp];
  return sum - own;
}

/// Executor of core's solve_in_place(): one row per lane.
struct RowsOfWarp {
  unsigned lane;

  template <class Step>
  __device__ void operator()(unsigned first, unsigned end, const Step& step) const {
    __syncwarp();
    if (first + lane < end) step(first + lane);
    __syncwarp();
  }
};

template <class State>
struct alignas(State) Uninitialised {
  std::byte bytes[sizeof(State)];

  __device__ State& get() { return *reinterpret_cast<State*>(bytes); }
};

}  // namespace cuszi::gpu

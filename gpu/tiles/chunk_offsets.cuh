#pragma once

#include "gpu/tiles/tile_warp.cuh"

namespace cuszi::gpu {

/// Starts of chunks by decoupled look-back (Merrill and Garland 2016): chunks publish their size,
/// then the inclusive prefix sum.
class ChunkOffsets {
 public:
  __device__ ChunkOffsets(std::uint64_t* states, std::uint64_t chunk)
      : states_(states), chunk_(chunk) {}

  /// By one thread.
  __device__ void say_size(std::uint64_t words) const {
    publish(words | (chunk_ == 0 ? is_end : is_size));
  }

  /// Returns the words before the chunk to every lane of a warp.
  __device__ std::uint64_t find(std::uint64_t words, unsigned lane) const {
    std::uint64_t before = 0;
    for (std::int64_t last = static_cast<std::int64_t>(chunk_) - 1; last >= 0; last -= 32) {
      const std::int64_t one = last - lane;
      std::uint64_t state = one >= 0 ? read(one) : is_end;
      while (__any_sync(whole_warp, (state & flags) == 0)) {
        if ((state & flags) == 0) state = read(one);
      }
      const std::uint32_t ends = __ballot_sync(whole_warp, (state & is_end) != 0);
      const unsigned first_end =
          ends == 0 ? 31 : static_cast<unsigned>(__ffs(static_cast<int>(ends))) - 1;
      std::uint64_t sum = lane <= first_end ? state & ~flags : 0;
#pragma unroll
      for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(whole_warp, sum, static_cast<int>(distance));
      before += sum;
      if (ends != 0) break;
    }
    if (lane == 0 && chunk_ != 0) publish((before + words) | is_end);
    return before;
  }

 private:
  static constexpr std::uint64_t is_size = std::uint64_t{1} << 62;
  static constexpr std::uint64_t is_end = std::uint64_t{1} << 63;
  static constexpr std::uint64_t flags = is_size | is_end;

  __device__ void publish(std::uint64_t state) const {
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(states_ + chunk_), "l"(state) : "memory");
  }
  __device__ std::uint64_t read(std::int64_t chunk) const {
    std::uint64_t state;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(state) : "l"(states_ + chunk) : "memory");
    return state;
  }

  std::uint64_t* states_;
  std::uint64_t chunk_;
};

}  // namespace cuszi::gpu

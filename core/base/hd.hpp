#pragma once

/// Marks a function that both the host and the device may call.
#if defined(__CUDACC__)
#define CUSZI_HD __host__ __device__
#else
#define CUSZI_HD
#endif

/// Begins a constant table in a host and device function: `CUSZI_TABLE double table[]{...}`. In a
/// device's memory, where threads of a warp look up different entries at once; constants proper are
/// handed out one after the other.
#if defined(__CUDA_ARCH__)
#define CUSZI_TABLE static __device__ const
#else
#define CUSZI_TABLE static constexpr
#endif

#if defined(__CUDA_ARCH__)
#define CUSZI_UNROLL _Pragma("unroll")
#define CUSZI_NO_UNROLL _Pragma("unroll 1")
#else
#define CUSZI_UNROLL
#define CUSZI_NO_UNROLL
#endif

namespace cuszi {

/// Calls step(i) for all i from 0 to count - 1. A device unrolls such loops, unless they are long,
/// so that arrays which are indexed by i can stay in registers.
template <int count, bool is_short = count <= 64, class Step>
CUSZI_HD inline void for_each_of(const Step& step) {
  if constexpr (is_short) {
    CUSZI_UNROLL
    for (int i = 0; i < count; ++i) step(i);
  } else {
    CUSZI_NO_UNROLL
    for (int i = 0; i < count; ++i) step(i);
  }
}

}  // namespace cuszi

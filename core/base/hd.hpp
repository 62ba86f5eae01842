#pragma once

#if defined(__CUDACC__)
#define CUSZI_HD __host__ __device__
#else
#define CUSZI_HD
#endif

/// Declares a constant table for host and device. In global memory, because constant memory
/// serialises a warp's different lookups.
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

/// Calls step(i) for i in [0, count). Device code unrolls short loops, so that arrays indexed by i
/// stay in registers.
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

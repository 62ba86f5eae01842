#pragma once

/// Marks a function that both the host and the device may call.
#if defined(__CUDACC__)
#define CUSZI_HD __host__ __device__
#else
#define CUSZI_HD
#endif

/// Before a loop over a small array that a device is to keep in registers.
#if defined(__CUDA_ARCH__)
#define CUSZI_UNROLL _Pragma("unroll")
#else
#define CUSZI_UNROLL
#endif

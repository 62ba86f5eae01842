#pragma once

/// Marks a function that both the host and the device may call.
#if defined(__CUDACC__)
#define CUSZI_HD __host__ __device__
#else
#define CUSZI_HD
#endif

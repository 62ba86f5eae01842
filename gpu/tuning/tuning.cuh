#pragma once

#include <cstdint>

namespace cuszi::gpu {

// How the kernels of fits are launched.

struct StencilFitPolicy {
  static constexpr unsigned observe_threads = 128;
  static constexpr unsigned threads = 256;
  static constexpr unsigned sum_warps = 4;   ///< of a block that sums equations
  static constexpr unsigned read_ahead = 4;  ///< samples per lane: few warps hide no latency
};

struct ContextFitPolicy {
  static constexpr unsigned sample_threads = 128;
  static constexpr unsigned threads = 256;
  static constexpr unsigned chunk = 128;           ///< samples in shared memory
  static constexpr std::uint32_t part_size = 512;  ///< samples per thread block
};

}  // namespace cuszi::gpu

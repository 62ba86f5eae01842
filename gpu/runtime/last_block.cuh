#pragma once

namespace cuszi::gpu {

/// Whether all other thread blocks of the launch have come here before this one, which then sees
/// what they have written. `blocks_done` is 0 before the launch. By all threads of a block.
__device__ inline bool is_last_block(unsigned* blocks_done) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(blocks_done, 1U) == gridDim.x * gridDim.y - 1;
  __syncthreads();
  if (is_last) __threadfence();
  return is_last;
}

}  // namespace cuszi::gpu

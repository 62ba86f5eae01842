#pragma once

namespace cuszi::gpu {

/// True in the last thread block to arrive; the others' writes are then visible. `blocks_done` must
/// start at 0. Called by all threads.
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

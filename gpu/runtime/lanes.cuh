#pragma once

#include <cstddef>

namespace cuszi::gpu {

/// Steps of core's solve_in_place() for rows side by side, one per lane of a warp.
struct RowsOfWarp {
  unsigned lane;

  template <class Step>
  __device__ void operator()(unsigned first, unsigned end, const Step& step) const {
    __syncwarp();
    if (first + lane < end) step(first + lane);
    __syncwarp();
  }
};

/// Shared memory for what has a constructor, which shared variables may not have.
template <class State>
struct alignas(State) Uninitialised {
  std::byte bytes[sizeof(State)];

  __device__ State& get() { return *reinterpret_cast<State*>(bytes); }
};

}  // namespace cuszi::gpu

#pragma once

#include <cstddef>

namespace cuszi::gpu {

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

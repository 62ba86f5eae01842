#pragma once

#include <cstdint>
#include <limits>

#include "core/field/mask.hpp"
#include "core/field/sample.hpp"

namespace cuszi::gpu {

template <class T>
struct SeenRange {
  T min;
  T max;
  std::uint64_t missing;
};

template <class T>
__device__ SeenRange<T> empty_range() {
  return {std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest(), 0};
}

template <class T>
__device__ void include(SeenRange<T>& range, T value, const MissingTest<T>& missing) {
  const bool skip = missing(value);
  range.missing += skip ? 1 : 0;
  range.min = !skip && value < range.min ? value : range.min;
  range.max = !skip && value > range.max ? value : range.max;
}

template <class T>
__device__ void merge(SeenRange<T>& range, const SeenRange<T>& other) {
  range.min = other.min < range.min ? other.min : range.min;
  range.max = other.max > range.max ? other.max : range.max;
  range.missing += other.missing;
}

/// Valid in the first lane.
template <class T>
__device__ SeenRange<T> merge_warp(SeenRange<T> range) {
  for (int distance = 16; distance > 0; distance /= 2) {
    merge<T>(range, {__shfl_down_sync(~0U, range.min, distance),
                     __shfl_down_sync(~0U, range.max, distance),
                     __shfl_down_sync(~0U, range.missing, distance)});
  }
  return range;
}

/// Valid in thread 0.
template <unsigned threads, class T>
__device__ SeenRange<T> merge_block(SeenRange<T> range) {
  constexpr unsigned warps = threads / 32;
  __shared__ SeenRange<T> of_warp[warps];
  range = merge_warp(range);
  __syncthreads();  // for the previous range
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = range;
  __syncthreads();
  if (threadIdx.x >= 32) return range;
  return merge_warp(threadIdx.x < warps ? of_warp[threadIdx.x] : empty_range<T>());
}

/// Range of a frame's sample, in thread 0; for a single thread block.
template <unsigned threads, class T>
__device__ SeenRange<T> sample_of_block(const T* values, std::uint64_t points) {
  constexpr unsigned in_flight = 8;
  const std::uint64_t size = sample_size(points);
  const MagnitudeSample sample(points);
  const MissingTest<T> missing;
  SeenRange<T> range = empty_range<T>();
  for (std::uint64_t k = threadIdx.x; k < size; k += in_flight * threads) {
    T picked[in_flight];
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i) {
      const std::uint64_t one = k + i * threads;
      picked[i] = values[sample[one < size ? one : k]];
    }
#pragma unroll
    for (const T value : picked) include(range, value, missing);
  }
  return merge_block<threads>(range);
}

}  // namespace cuszi::gpu

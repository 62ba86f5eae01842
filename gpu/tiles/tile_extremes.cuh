#pragma once

#include "gpu/runtime/extremes.cuh"
#include "gpu/tiles/tile_task.cuh"

namespace cuszi::gpu {

__device__ inline float larger_or_nan(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
__device__ inline double larger_or_nan(double a, double b) { return a >= b || a != a ? a : b; }

template <class T>
struct Extremes {
  T min;
  T max;

  /// The maximum is NaN if any value is.
  __device__ void take(const T (&values)[lane_points]) {
    min = values[0];
    max = values[0];
#pragma unroll
    for (const T value : values) {
      min = std::fmin(min, value);
      max = larger_or_nan(max, value);
    }
  }
  /// Ignores NaN.
  __device__ void take_numbers(const T (&values)[lane_points]) {
    min = std::numeric_limits<T>::max();
    max = std::numeric_limits<T>::lowest();
#pragma unroll
    for (const T value : values) include({value, value});
  }
  /// NaN if the maximum is.
  __device__ T magnitude() const { return larger_or_nan(max, -min); }
  __device__ void include(const Extremes& other) {
    min = std::fmin(min, other.min);
    max = std::fmax(max, other.max);
  }
  __device__ void merge_warp() {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      include(
          {__shfl_xor_sync(whole_warp, min, distance), __shfl_xor_sync(whole_warp, max, distance)});
  }
};

/// Of words, as signed integers.
template <>
struct Extremes<std::uint32_t> {
  std::int32_t min;
  std::int32_t max;

  __device__ void take(std::uint32_t word) { include({as_signed(word), as_signed(word)}); }
  __device__ void include(const Extremes& other) {
    min = ::min(min, other.min);
    max = ::max(max, other.max);
  }
  __device__ void merge_warp() {
    min = __reduce_min_sync(whole_warp, min);
    max = __reduce_max_sync(whole_warp, max);
  }

 private:
  __device__ static std::int32_t as_signed(std::uint32_t word) {
    return static_cast<std::int32_t>(word);
  }
};

/// Merges a chunk's minimum and maximum into the frame's.
template <class T>
__device__ void tell_extremes(const Extremes<T>* of_tiles, unsigned tiles, SharedExtremes& total) {
  Extremes<T> all = of_tiles[0];
  for (unsigned i = 1; i < tiles; ++i) all.include(of_tiles[i]);
  total.include(static_cast<double>(all.min), static_cast<double>(all.max));
}

}  // namespace cuszi::gpu

#pragma once

#include "gpu/multilevel/multilevel_point.cuh"
#include "gpu/multilevel/region_of_class.cuh"

namespace cuszi::gpu {

template <class T>
struct CubeShared {
  CubeStage<QuantCode> codes[2];  ///< of this region and the previous one
  CubeStage<T> values;
};

/// At borders one point at a time, through shared memory, which keeps code small.
template <class Class, class T>
__device__ void predict_tile(const RegionOfClass<Class, T>& tile, const LevelArray<T>& array,
                             const ClassPlan<T>& plan, int reach, T* memory,
                             T (&expected)[cube_points]) {
  const auto reader = tile.reader(array.layout, static_cast<const T*>(array.values));
  const T* const weights = plan.weights.data();
  tile.with_borders(reach, 2, [&](auto borders) {
    if constexpr (borders.value == Borders::all) {
      CUSZI_NO_UNROLL
      for (int k = 0; k < cube_points; ++k) {
        if (!tile.has(k)) continue;
        T one[1];
        CubePoints<Class, borders.value, 1, T>(reader, tile.place(), k)
            .interpolate(reach, weights, one);
        memory[k * RegionPolicy::threads + threadIdx.x] = one[0];
      }
      CUSZI_UNROLL
      for (int k = 0; k < cube_points; ++k) {
        expected[k] = memory[k * RegionPolicy::threads + threadIdx.x];
      }
    } else {
      CubePoints<Class, borders.value, cube_points, T>(reader, tile.place(), 0)
          .interpolate(reach, weights, expected);
    }
  });
  CUSZI_UNROLL
  for (int k = 0; k < cube_points; ++k) expected[k] = snapped(plan, expected[k]);
}

/// For the hash of the coarse lattice.
template <class Class, class T>
__device__ void list_tile(const RegionOfClass<Class, T>& tile, const LevelArray<T>& array,
                          CubeStage<T>& stage, T* listed) {
  __syncthreads();
  CUSZI_NO_UNROLL
  for (int k = 0; k < cube_points; ++k) {
    if (tile.has(k))
      stage.values[tile.code_position_in_region(k)] = value_to_hash(array.values[tile.offset(k)]);
  }
  __syncthreads();
  stage.store(listed + tile.first(), tile.points());
  __syncthreads();
}

}  // namespace cuszi::gpu

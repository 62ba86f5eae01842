#include "gpu/multilevel/multilevel_cube_kernels.cuh"
#include "gpu/multilevel/pass_kernels.cuh"

namespace cuszi::gpu {

namespace {

/// Outliers and other rare points come last.
template <class Class, class T>
__device__ void restore_tile(const RegionOfClass<Class, T>& tile, const LevelArray<T>& array,
                             const RestoreTask<T>& task, const T (&expected)[cube_points],
                             const QuantCode* codes) {
  unsigned rare = 0;
  CUSZI_UNROLL
  for (int k = 0; k < cube_points; ++k) {
    if (!tile.has(k)) continue;
    const QuantCode code = codes[tile.code_position_in_region(k)];
    bool is_rare = code == outlier_code;
    if (task.missing.words != nullptr) is_rare |= task.missing.test(tile.original(k));
    if (task.local.bounds != nullptr) is_rare |= task.local.has(tile.original(k));
    rare |= static_cast<unsigned>(is_rare) << k;
    const std::uint64_t offset = tile.offset(k);
    array.values[offset] = is_rare ? expected[k] : restore(task.quantizer, expected[k], code);
    array.magnitudes[offset] = magnitude_of_code(code, task.quantizer.radius);
  }
  CUSZI_NO_UNROLL
  for (int k = 0; rare != 0; ++k, rare >>= 1) {
    if (rare % 2 == 0) continue;
    const std::uint32_t code_position = tile.code_position_in_region(k);
    const PointPositions at{tile.offset(k), tile.original(k), tile.first() + code_position};
    restore_point(task, array, at, array.values[at.offset], codes[code_position]);
  }
}

template <class Class, class T>
__device__ void restore_tiles(RegionOfClass<Class, T> tile, const LevelArray<T>& array,
                              const ClassPlan<T>& plan, int reach, const RestoreTask<T>& task,
                              CubeShared<T>& shared) {
  for (std::uint32_t i = 0; tile.exists(i); ++i, tile.next()) {
    CubeStage<QuantCode>& codes = shared.codes[i % 2];
    codes.load(task.codes + tile.first(), tile.points());
    T expected[cube_points];
    predict_tile(tile, array, plan, reach, shared.values.values, expected);
    __syncthreads();
    restore_tile(tile, array, task, expected, codes.values);
    if (task.listed != nullptr) list_tile(tile, array, shared.values, task.listed);
  }
}

template <class Classes, class T>
__global__ void __launch_bounds__(RegionPolicy::threads, CubePolicy::blocks_of_sm<T>)
    restore_cube_kernel(__grid_constant__ const CubePass<Classes, T> pass,
                        __grid_constant__ const RestoreTask<T> task) {
  __shared__ CubeShared<T> shared;
  visit_tile(pass, [&](const auto& tile, const ClassPlan<T>& plan) {
    restore_tiles(tile, pass.array, plan, pass.reach, task, shared);
  });
}

}  // namespace

template <class T>
void restore_cube(DeviceContext& gpu, const PassView<T>& pass, const RestoreTask<T>& task) {
  with_cube_pass(gpu.device(), pass, [&](const auto& cube) {
    restore_cube_kernel<<<cube.grid.blocks, RegionPolicy::threads, 0, gpu.stream()>>>(cube, task);
  });
  check_launch("restore_cube");
}

template void restore_cube(DeviceContext&, const PassView<float>&, const RestoreTask<float>&);
template void restore_cube(DeviceContext&, const PassView<double>&, const RestoreTask<double>&);

}  // namespace cuszi::gpu

#include "gpu/multilevel/multilevel_cube_kernels.cuh"
#include "gpu/tuning/approximate_reconstruction_cube.cuh"

namespace cuszi::gpu {

namespace {

template <class Class, class T>
__device__ void approximate_tiles(RegionOfClass<Class, T> tile, const LevelArray<T>& originals,
                                  const ClassPlan<T>& plan, int reach,
                                  const ApproximateReconstruction<T>& approximation,
                                  CubeStage<T>& stage, T* made) {
  for (std::uint32_t i = 0; tile.exists(i); ++i, tile.next()) {
    T expected[cube_points];
    predict_tile(tile, originals, plan, reach, stage.values, expected);
    CUSZI_UNROLL
    for (int k = 0; k < cube_points; ++k) {
      if (!tile.has(k)) continue;
      made[tile.original(k)] =
          approximation.restored(plan, originals.values[tile.offset(k)], expected[k]);
    }
    __syncthreads();
  }
}

/// The weights of `views` are those of the fits, which the host does not know.
template <class Classes, class T>
__global__ void __launch_bounds__(cube_threads, cube_blocks_of_sm<T>)
    approximate_cube_kernel(__grid_constant__ const CubePass<Classes, T> pass,
                            const DeviceClass<T>* views,
                            __grid_constant__ const ApproximateReconstruction<T> approximation,
                            T* made) {
  __shared__ CubeStage<T> stage;
  visit_tile(pass, [&](const auto& tile, const ClassPlan<T>& /*unfitted*/) {
    const ClassPlan<T>& plan = views[pass.grid.class_here()].plan;
    approximate_tiles(tile, pass.array, plan, pass.reach, approximation, stage, made);
  });
}

}  // namespace

template <class T>
void approximate_cube(DeviceContext& gpu, const PassView<T>& pass,
                      const ApproximateReconstruction<T>& approximation, T* made) {
  with_cube_pass(gpu.device(), pass, [&](const auto& cube) {
    approximate_cube_kernel<<<cube.grid.blocks, cube_threads, 0, gpu.stream()>>>(
        cube, pass.classes, approximation, made);
  });
  check_launch("approximate_cube");
}

template void approximate_cube(DeviceContext&, const PassView<float>&,
                               const ApproximateReconstruction<float>&, float*);
template void approximate_cube(DeviceContext&, const PassView<double>&,
                               const ApproximateReconstruction<double>&, double*);

}  // namespace cuszi::gpu

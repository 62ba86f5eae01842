#include "gpu/multilevel_cube_kernels.cuh"
#include "gpu/simulation_cube.cuh"

namespace cuszi::gpu {

namespace {

template <class Class, class T>
__global__ void __launch_bounds__(cube_threads, cube_blocks_of_sm<T>)
    simulate_cube_kernel(__grid_constant__ const LevelArray<T> originals, const ClassView<T>* view,
                         __grid_constant__ const CubeGrid grid, int reach,
                         __grid_constant__ const Simulation<T> simulation, T* made) {
  __shared__ CubeStage<T> stage;
  const ClassPlan<T>& plan = view->plan;
  CubeTile<Class, T> tile(originals.layout, plan.points, grid);
  for (std::uint32_t i = 0; tile.exists(i); ++i, tile.next()) {
    T expected[cube_points];
    predict_tile(tile, originals, plan, reach, stage.values, expected);
    CUSZI_UNROLL
    for (int k = 0; k < cube_points; ++k) {
      if (!tile.has(k)) continue;
      made[tile.original(k)] =
          simulation.restored(plan, originals.values[tile.offset(k)], expected[k]);
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void simulate_cube(Work& work, const PassView<T>& pass, const Simulation<T>& simulation, T* made) {
  for (std::uint32_t c = 0; c < pass.class_count; ++c) {
    const ClassView<T>& view = pass.host_classes[c];
    const CubeGrid grid(view, pass);
    with_class(pass.geometry, view.plan.points, [&](auto of) {
      simulate_cube_kernel<decltype(of), T><<<grid.blocks, cube_threads, 0, work.stream()>>>(
          pass.array, pass.classes + c, grid, pass.reach, simulation, made);
    });
    check_launch("simulate_cube");
  }
}

template void simulate_cube(Work&, const PassView<float>&, const Simulation<float>&, float*);
template void simulate_cube(Work&, const PassView<double>&, const Simulation<double>&, double*);

}  // namespace cuszi::gpu

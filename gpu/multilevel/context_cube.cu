#include "gpu/multilevel/context_point.cuh"
#include "gpu/multilevel/pass_kernels.cuh"
#include "gpu/multilevel/region_of_class.cuh"

namespace cuszi::gpu {

namespace {

/// For the i-th of `points`, the thread's k-th point.
template <class Class, Borders borders, int count, class T>
__device__ std::int32_t feature_sum(const ClassPlan<T>& plan, const FeatureWeights& weights,
                                    const CubePoints<Class, borders, count, T>& points, int i,
                                    const CubeReader<Class, std::uint8_t>& magnitudes,
                                    const CubePlace& place, int k) {
  Features f{};
  f[constant] = feature_one;
  CubeMagnitudes<Class, borders>(magnitudes, place, k).add_to(f);
  const Slopes<T> s = points.slopes(i);
  f[gradient] = slope_feature(s.slope * plan.slope_scale);
  f[roughness] = slope_feature(s.curvature * plan.slope_scale + s.spread * plan.spread_scale);
  f[gradient_root] = root_of(f[gradient]);
  return weighted_sum(weights, f);
}

template <class Class, class T>
__device__ void find_contexts(const RegionOfClass<Class, T>& tile, const LevelArray<T>& array,
                              const ClassPlan<T>& plan, const ContextWeights& weights,
                              std::uint8_t* contexts) {
  const auto values = tile.reader(array.layout, static_cast<const T*>(array.values));
  const auto magnitudes =
      tile.reader(array.layout, static_cast<const std::uint8_t*>(array.magnitudes));
  const auto put = [&](int k, std::int32_t sum) {
    contexts[tile.code_position_in_region(k)] = context_of(plan.points.group, sum);
  };
  tile.with_borders(3, 1, [&](auto borders) {
    if constexpr (borders.value == Borders::all) {
      CUSZI_NO_UNROLL
      for (int k = 0; k < cube_points; ++k) {
        if (!tile.has(k)) continue;
        const CubePoints<Class, borders.value, 1, T> point(values, tile.place(), k);
        put(k, feature_sum(plan, weights.weights, point, 0, magnitudes, tile.place(), k));
      }
    } else {
      const CubePoints<Class, borders.value, cube_points, T> points(values, tile.place(), 0);
      CUSZI_UNROLL
      for (int k = 0; k < cube_points; ++k) {
        put(k, feature_sum(plan, weights.weights, points, k, magnitudes, tile.place(), k));
      }
    }
  });
}

template <class Classes, class T>
__global__ void __launch_bounds__(RegionPolicy::threads, CubePolicy::blocks_of_sm<T>)
    cube_contexts_kernel(__grid_constant__ const CubePass<Classes, T> pass,
                         const ContextWeights* weights, std::uint8_t* contexts) {
  __shared__ CubeStage<std::uint8_t> staged[2];
  visit_tile(pass, [&](auto tile, const ClassPlan<T>& plan) {
    const ContextWeights mine = weights[plan.points.group];
    for (std::uint32_t i = 0; tile.exists(i); ++i, tile.next()) {
      find_contexts(tile, pass.array, plan, mine, staged[i % 2].values);
      __syncthreads();
      staged[i % 2].store(contexts + tile.first(), tile.points());
    }
  });
}

}  // namespace

template <class T>
void fill_cube_contexts(DeviceContext& gpu, const PassView<T>& pass, const ContextWeights* weights,
                        std::uint8_t* contexts) {
  with_cube_pass(gpu.device(), pass, [&](const auto& cube) {
    cube_contexts_kernel<<<cube.grid.blocks, RegionPolicy::threads, 0, gpu.stream()>>>(
        cube, weights, contexts);
  });
  check_launch("fill_cube_contexts");
}

template void fill_cube_contexts(DeviceContext&, const PassView<float>&, const ContextWeights*,
                                 std::uint8_t*);
template void fill_cube_contexts(DeviceContext&, const PassView<double>&, const ContextWeights*,
                                 std::uint8_t*);

}  // namespace cuszi::gpu

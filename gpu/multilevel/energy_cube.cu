#include "core/multilevel/block_contexts.hpp"
#include "core/multilevel/code_position.hpp"
#include "gpu/multilevel/energy_cube.cuh"
#include "gpu/multilevel/energy_point.cuh"
#include "gpu/multilevel/region_of_class.cuh"
#include "gpu/multilevel/vector_kernels.cuh"

namespace cuszi::gpu {

namespace {

template <class T>
constexpr unsigned blocks_of_sm = sizeof(T) == 4 ? 7 : 5;

/// The weighted sum of the features of the i-th of `points`, a thread's k-th point.
template <class Class, Borders borders, int count, class T>
__device__ std::int32_t energy_sum(const ClassPlan<T>& plan, const EnergyWeights& weights,
                                   const CubePoints<Class, borders, count, T>& points, int i,
                                   const CubeReader<Class, std::uint8_t>& magnitudes,
                                   const CubePlace& place, int k) {
  EnergyFeatures f{};
  f[constant] = energy_one;
  CubeMagnitudes<Class, borders>(magnitudes, place, k).add_to(f);
  const Slopes<T> s = points.slopes(i, plan.near_share);
  f[gradient] = slope_feature(s.slope * plan.slope_scale);
  f[roughness] = slope_feature(s.curvature * plan.slope_scale + s.spread * plan.spread_scale);
  f[gradient_root] = root_of(f[gradient]);
  if (Class::is_enclosed) f[slice_error] = slope_feature(s.errors * plan.slice_scale);
  return weighted_sum(weights, f);
}

/// The contexts of a thread's points of a region.
template <class Class, class T>
__device__ void find_contexts(const RegionOfClass<Class, T>& tile, const LevelArray<T>& array,
                              const ClassPlan<T>& plan, const ContextWeights& weights,
                              std::uint8_t* contexts) {
  const auto values = tile.reader(array.layout, static_cast<const T*>(array.values));
  const auto magnitudes =
      tile.reader(array.layout, static_cast<const std::uint8_t*>(array.magnitudes));
  const auto put = [&](int k, std::int32_t sum) {
    contexts[tile.code_position_in_region(k)] = context_of(weights, plan.points.group, sum);
  };
  tile.with_borders(3, 1, [&](auto borders) {
    if constexpr (borders.value == Borders::all) {
      CUSZI_NO_UNROLL
      for (int k = 0; k < cube_points; ++k) {
        if (!tile.has(k)) continue;
        const CubePoints<Class, borders.value, 1, T> point(values, tile.place(), k);
        put(k, energy_sum(plan, weights.weights, point, 0, magnitudes, tile.place(), k));
      }
    } else {
      const CubePoints<Class, borders.value, cube_points, T> points(values, tile.place(), 0);
      CUSZI_UNROLL
      for (int k = 0; k < cube_points; ++k) {
        put(k, energy_sum(plan, weights.weights, points, k, magnitudes, tile.place(), k));
      }
    }
  });
}

template <class Classes, class T>
__global__ void __launch_bounds__(RegionShape::block_threads, blocks_of_sm<T>)
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

/// The context of the point of a class that has a code position.
template <class Class, class T>
__device__ std::uint8_t context_at(const LevelArray<T>& array, const ClassPlan<T>& plan,
                                   const ContextWeights* weights, std::uint64_t code_position) {
  Grid tiles;
  tiles.tile = {1, 4, 4, 4};
  const Index4 at = position_of(
      plan.points, point_at_code_position<std::uint32_t>(tiles, plan.points, code_position));
  const LevelLayout& layout = array.layout;
  const CubePlace place{static_cast<std::int32_t>(at[1]),
                        static_cast<std::int32_t>(at[2]),
                        static_cast<std::int32_t>(at[3]),
                        static_cast<std::int32_t>(layout.extents[1]),
                        static_cast<std::int32_t>(layout.extents[2]),
                        static_cast<std::int32_t>(layout.extents[3])};
  const auto offset = static_cast<std::uint32_t>(layout.offset_of(at));
  const auto z_stride = static_cast<std::uint32_t>(layout.strides[1]);
  const auto y_stride = static_cast<std::uint32_t>(layout.strides[2]);
  const CubeReader<Class, T> values{array.values, offset, z_stride, y_stride, layout.odd, 0, 0};
  const CubeReader<Class, std::uint8_t> magnitudes{array.magnitudes, offset, z_stride, y_stride,
                                                   layout.odd,       0,      0};
  const ContextWeights& own = weights[plan.points.group];
  const CubePoints<Class, Borders::all, 1, T> point(values, place, 0);
  return context_of(own, plan.points.group,
                    energy_sum(plan, own.weights, point, 0, magnitudes, place, 0));
}

/// A thread finds the context of a block.
template <class Classes, class T>
__global__ void __launch_bounds__(RegionShape::block_threads)
    cube_block_contexts_kernel(__grid_constant__ const CubePass<Classes, T> pass,
                               std::uint32_t class_count, std::uint64_t points,
                               const ContextWeights* weights, std::uint8_t* contexts) {
  const std::uint64_t block = std::uint64_t{blockIdx.x} * RegionShape::block_threads + threadIdx.x;
  if (block * block_codes >= points) return;
  const std::uint64_t code_position = probe_position(block, points);
  std::uint32_t number = pass.grid.first_number + class_count - 1;
  while (number > pass.grid.first_number && pass.plans[number].points.start > code_position) {
    --number;
  }
  Classes::visit(number, [&](auto of, auto constant) {
    contexts[block] =
        context_at<decltype(of)>(pass.array, pass.plans[constant], weights, code_position);
  });
}

}  // namespace

template <class T>
void fill_cube_block_contexts(DeviceContext& gpu, const PassView<T>& pass,
                              const ContextWeights* weights, std::uint8_t* contexts) {
  const unsigned blocks =
      blocks_for(ceil_div(pass.blocked, block_codes), RegionShape::block_threads);
  with_cube_pass(gpu.device(), pass, [&](const auto& cube) {
    cube_block_contexts_kernel<<<blocks, RegionShape::block_threads, 0, gpu.stream()>>>(
        cube, pass.class_count, pass.blocked, weights, contexts);
  });
  check_launch("fill_cube_block_contexts");
}

template <class T>
void fill_cube_contexts(DeviceContext& gpu, const PassView<T>& pass, const ContextWeights* weights,
                        std::uint8_t* contexts) {
  if (fits_vectors(pass, contexts)) return fill_vector_contexts(gpu, pass, weights, contexts);
  with_cube_pass(gpu.device(), pass, [&](const auto& cube) {
    cube_contexts_kernel<<<cube.grid.blocks, RegionShape::block_threads, 0, gpu.stream()>>>(
        cube, weights, contexts);
  });
  check_launch("fill_cube_contexts");
}

template void fill_cube_block_contexts(DeviceContext&, const PassView<float>&,
                                       const ContextWeights*, std::uint8_t*);
template void fill_cube_block_contexts(DeviceContext&, const PassView<double>&,
                                       const ContextWeights*, std::uint8_t*);
template void fill_cube_contexts(DeviceContext&, const PassView<float>&, const ContextWeights*,
                                 std::uint8_t*);
template void fill_cube_contexts(DeviceContext&, const PassView<double>&, const ContextWeights*,
                                 std::uint8_t*);

}  // namespace cuszi::gpu

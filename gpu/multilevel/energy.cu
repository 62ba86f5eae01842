#include "gpu/multilevel/energy.cuh"
#include "gpu/multilevel/energy_cube.cuh"
#include "gpu/multilevel/spots.cuh"
#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

namespace {

/// The sum of what stands at the taps of a group.
template <class Magnitudes>
__device__ ValueAt<Magnitudes> group_sum(const EnergyTaps& taps, const std::int64_t* offsets,
                                         unsigned g, const Magnitudes& magnitude) {
  ValueAt<Magnitudes> sum = 0;
  for (unsigned i = taps.begin(g); i < taps.end(g); ++i) sum += magnitude[offsets[i]];
  return sum;
}

/// How wrong the means of near neighbours are in the enclosing slices.
template <class T, class Values>
__device__ ValueAt<Values> inner_slice_errors(const DeviceClass<T>& view, const Values& value) {
  const ClassPlan<T>& plan = view.plan;
  constexpr unsigned slices = same_point - direct;
  ValueAt<Values> errors = 0;
  for (unsigned i = plan.energy.begin(slices); i < plan.energy.end(slices); ++i) {
    const std::int64_t there = plan.energy_offsets[i];
    ValueAt<Values> sum = 0;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (!plan.points.is_odd(axis)) continue;
      const auto& line = view.line_offsets[axis];
      sum += value[there + line[1]] + value[there + line[2]];
    }
    errors += fabs(value[there] - sum * plan.near_share);
  }
  return errors;
}

/// core's slopes_of() where all neighbours are in the array.
template <class T, class Values>
__device__ Slopes<ValueAt<Values>> inner_slopes(const DeviceClass<T>& view, const Values& value) {
  SlopeSums<T, ValueAt<Values>> sums;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (!view.plan.points.is_odd(axis)) continue;
    const auto& line = view.line_offsets[axis];
    sums.add(value[line[1]], value[line[2]], value[line[0]] + value[line[3]]);
  }
  return sums.with(inner_slice_errors(view, value));
}

/// The weighted sums of the features of points that have all neighbours.
template <unsigned count, class T>
__device__ Spots<std::int32_t, count> inner_sums(const LevelArray<T>& array,
                                                 const DeviceClass<T>& view,
                                                 const EnergyWeights& weights,
                                                 const std::uint64_t (&offsets)[count]) {
  using Magnitudes = SpotValues<std::uint8_t, std::int32_t, count>;
  const ClassPlan<T>& plan = view.plan;
  const Magnitudes magnitudes(array.magnitudes, offsets);
  Spots<std::int32_t, count> sums = weights[constant] * energy_one;
  CUSZI_UNROLL
  for (unsigned g = 0; g < EnergyTaps::most_groups; ++g) {
    if (g >= plan.energy.size) break;
    sums += std::int32_t{weights[direct + g]} *
            group_sum(plan.energy, plan.energy_offsets.data(), g, magnitudes);
  }
  if (plan.points.order == 0) return sums;
  const auto slopes = inner_slopes(view, SpotValues<T, T, count>(array.values, offsets));
  CUSZI_UNROLL
  for (unsigned i = 0; i < count; ++i) {
    EnergyFeatures f{};
    add_slopes(plan,
               Slopes<T>{slopes.slope.of[i], slopes.curvature.of[i], slopes.spread.of[i],
                         slopes.errors.of[i]},
               f);
    sums.of[i] += weighted_sum(weights, f);
  }
  return sums;
}

/// The weighted sum of the features of a point at the border, which lacks some neighbours.
template <class T>
__device__ std::int32_t border_sum(const LevelArray<T>& array, const DeviceClass<T>& view,
                                   const EnergyWeights& weights, const Index4& at) {
  const LevelPointer<T> values(array.values, array.layout, at);
  const LevelPointer<std::uint8_t> magnitudes(array.magnitudes, array.layout, at);
  const PointAt<LevelPointer<T>> p{view.grid, view.plan.points, at, values};
  return weighted_sum(weights, features_of(view.plan, p, magnitudes));
}

/// What a block's threads share to sum up the features of a region's points.
struct SummedSpots {
  std::int32_t sums[RegionShape::points];  ///< by code position
  SpotList others;
};

/// The weighted sums of all points of a region.
template <class T>
__device__ void sum_features(const PassView<T>& pass, const DeviceClass<T>& view,
                             const Region& region, const EnergyWeights& weights,
                             SummedSpots& shared) {
  const LevelArray<T>& array = pass.array;
  look_at_spots(
      pass, view, region, view.plan.energy_margins, shared.others,
      [&](const std::uint64_t(&offsets)[spots_of_thread], unsigned which) {
        put_spots(pass, region, inner_sums(array, view, weights, offsets), which, shared.sums);
      },
      [&](const Spot& spot, std::uint32_t code_position) {
        shared.sums[code_position] =
            border_sum(array, view, weights, position_of(view, region, spot));
      });
}

/// What a block's threads share to find the contexts of a region's points.
struct ContextSpots {
  SummedSpots summed;
  Staged<std::uint8_t> staged;
};

template <class T>
__device__ void fill_region(const PassView<T>& pass, const DeviceClass<T>& view,
                            const Region& region, const ContextWeights* weights,
                            std::uint8_t* contexts, ContextSpots& shared) {
  const ContextWeights mine = weights[view.plan.points.group];
  const bool has_weights = mine.kind != WeightsKind::none;
  if (has_weights) sum_features(pass, view, region, mine.weights, shared.summed);
  for_each_spot(pass.shape, region, [&](const Spot&, std::uint32_t code_position) {
    shared.staged.values[code_position] = context_of(
        mine, view.plan.points.group, has_weights ? shared.summed.sums[code_position] : 0);
  });
  __syncthreads();
  shared.staged.store(contexts + region.code_position, region.points());
  __syncthreads();
}

template <class T>
__global__ void __launch_bounds__(RegionShape::block_threads)
    contexts_kernel(__grid_constant__ const PassView<T> pass, const ContextWeights* weights,
                    std::uint8_t* contexts) {
  __shared__ ContextSpots shared;
  for_each_region(pass, [&](const DeviceClass<T>& view, const Region& region) {
    fill_region(pass, view, region, weights, contexts, shared);
  });
}

constexpr unsigned small_pass_blocks = 64;
template <class T>
__global__ void __launch_bounds__(RegionShape::block_threads)
    small_contexts_kernel(const SmallPassContexts<T>* passes) {
  __shared__ ContextSpots shared;
  __shared__ Uninitialised<SmallPassContexts<T>> shared_pass;
  share(passes[blockIdx.y], shared_pass.get());
  const SmallPassContexts<T>& here = shared_pass.get();
  share_out_regions(here.pass, [&](const DeviceClass<T>& view, const Region& region) {
    fill_region(here.pass, view, region, here.weights, here.contexts, shared);
  });
}

}  // namespace

template <class T>
void fill_contexts(DeviceContext& gpu, const PassView<T>& pass, const ContextWeights* weights,
                   std::uint8_t* contexts) {
  if (pass.geometry != Geometry::any) {
    fill_cube_contexts(gpu, pass, weights, contexts);
    return;
  }
  contexts_kernel<T>
      <<<pass.grid, RegionShape::block_threads, 0, gpu.stream()>>>(pass, weights, contexts);
  check_launch("fill_contexts");
}

template <class T>
void fill_contexts(DeviceContext& gpu, std::span<const SmallPassContexts<T>> passes) {
  if (passes.empty()) return;
  std::uint32_t classes = 0;
  for (const SmallPassContexts<T>& small : passes) {
    classes = std::max(classes, small.pass.class_count);
  }
  const dim3 grid(small_pass_blocks, static_cast<unsigned>(passes.size()), classes);
  small_contexts_kernel<T><<<grid, RegionShape::block_threads, 0, gpu.stream()>>>(
      upload(gpu, passes.data(), passes.size()));
  check_launch("fill_contexts");
}

template void fill_contexts(DeviceContext&, std::span<const SmallPassContexts<float>>);
template void fill_contexts(DeviceContext&, std::span<const SmallPassContexts<double>>);
template void fill_contexts(DeviceContext&, const PassView<float>&, const ContextWeights*,
                            std::uint8_t*);
template void fill_contexts(DeviceContext&, const PassView<double>&, const ContextWeights*,
                            std::uint8_t*);

}  // namespace cuszi::gpu

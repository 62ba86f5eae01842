#include "gpu/multilevel/context.cuh"
#include "gpu/multilevel/context_point.cuh"
#include "gpu/multilevel/pass_kernels.cuh"
#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

namespace {

struct SummedSpots {
  std::int32_t sums[RegionPolicy::points];  ///< by code position
  SpotList others;
};

template <class T>
__device__ void sum_features(const PassView<T>& pass, const DeviceClass<T>& view,
                             const Region& region, const FeatureWeights& weights,
                             SummedSpots& shared) {
  const LevelArray<T>& array = pass.array;
  look_at_spots(
      pass, view, region, view.plan.context_margins, shared.others,
      [&](const std::uint64_t(&offsets)[spots_of_thread], unsigned which) {
        put_spots(pass, region, inner_sums(array, view, weights, offsets), which, shared.sums);
      },
      [&](const Spot& spot, std::uint32_t code_position) {
        shared.sums[code_position] =
            border_sum(array, view, weights, position_of(view, region, spot));
      });
}

struct ContextSpots {
  SummedSpots summed;
  Staged<std::uint8_t> staged;
};

template <class T>
__device__ void fill_region(const PassView<T>& pass, const DeviceClass<T>& view,
                            const Region& region, const ContextWeights* weights,
                            std::uint8_t* contexts, ContextSpots& shared) {
  const FeatureWeights mine = weights[view.plan.points.group].weights;
  sum_features(pass, view, region, mine, shared.summed);
  for_each_spot(pass.shape, region, [&](const Spot&, std::uint32_t code_position) {
    shared.staged.values[code_position] =
        context_of(view.plan.points.group, shared.summed.sums[code_position]);
  });
  __syncthreads();
  shared.staged.store(contexts + region.code_position, region.points());
  __syncthreads();
}

template <class T>
__global__ void __launch_bounds__(RegionPolicy::threads)
    contexts_kernel(__grid_constant__ const PassView<T> pass, const ContextWeights* weights,
                    std::uint8_t* contexts) {
  __shared__ ContextSpots shared;
  for_each_region(pass, [&](const DeviceClass<T>& view, const Region& region) {
    fill_region(pass, view, region, weights, contexts, shared);
  });
}

template <class T>
__global__ void __launch_bounds__(RegionPolicy::threads)
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
  if (fits_vectors(pass, contexts)) return fill_vector_contexts(gpu, pass, weights, contexts);
  if (pass.geometry != Geometry::any) return fill_cube_contexts(gpu, pass, weights, contexts);
  contexts_kernel<T>
      <<<pass.grid, RegionPolicy::threads, 0, gpu.stream()>>>(pass, weights, contexts);
  check_launch("fill_contexts");
}

template <class T>
void fill_contexts(DeviceContext& gpu, std::span<const SmallPassContexts<T>> passes) {
  if (passes.empty()) return;
  std::uint32_t classes = 0;
  for (const SmallPassContexts<T>& small : passes) {
    classes = std::max(classes, small.pass.class_count);
  }
  const dim3 grid(RegionPolicy::small_pass_blocks, static_cast<unsigned>(passes.size()), classes);
  small_contexts_kernel<T>
      <<<grid, RegionPolicy::threads, 0, gpu.stream()>>>(upload(gpu, passes.data(), passes.size()));
  check_launch("fill_contexts");
}

template void fill_contexts(DeviceContext&, std::span<const SmallPassContexts<float>>);
template void fill_contexts(DeviceContext&, std::span<const SmallPassContexts<double>>);
template void fill_contexts(DeviceContext&, const PassView<float>&, const ContextWeights*,
                            std::uint8_t*);
template void fill_contexts(DeviceContext&, const PassView<double>&, const ContextWeights*,
                            std::uint8_t*);

}  // namespace cuszi::gpu

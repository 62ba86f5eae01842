#include "core/multilevel/code_position.hpp"
#include "gpu/multilevel/block_contexts.cuh"
#include "gpu/multilevel/energy_cube.cuh"
#include "gpu/multilevel/energy_point.cuh"

namespace cuszi::gpu {

namespace {

struct BlockPolicy {
  static constexpr unsigned threads = 128;
};

/// The class of a pass that has a code position.
template <class T>
__device__ const DeviceClass<T>& class_at(const PassView<T>& pass, std::uint64_t code_position) {
  std::uint32_t c = pass.class_count - 1;
  while (c > 0 && pass.classes[c].plan.points.start > code_position) --c;
  return pass.classes[c];
}

template <class Number, class T>
__device__ std::uint8_t context_of_block(const PassView<T>& pass, std::uint64_t block,
                                         const ContextWeights* weights) {
  const std::uint64_t code_position = probe_position(block, pass.blocked);
  const DeviceClass<T>& view = class_at(pass, code_position);
  const PointClass& points = view.plan.points;
  const ContextWeights& own = weights[points.group];
  if (own.kind == WeightsKind::none) return context_of(own, points.group, 0);
  Grid tiles;
  tiles.tile = {1, pass.shape.tile1(), pass.shape.tile2(), pass.shape.tile3()};
  const Index4 at =
      position_of(points, point_at_code_position<Number>(tiles, points, code_position));
  const LevelLayout& layout = pass.array.layout;
  if (!is_inner(at, view.plan.energy_margins, layout.extents)) {
    return context_of(own, points.group, border_sum(pass.array, view, own.weights, at));
  }
  const std::uint64_t offsets[1] = {layout.offset_of(at)};
  return context_of(own, points.group, inner_sums(pass.array, view, own.weights, offsets).of[0]);
}

/// A thread finds the context of a block.
template <class Number, class T>
__global__ void __launch_bounds__(BlockPolicy::threads)
    block_contexts_kernel(__grid_constant__ const PassView<T> pass, const ContextWeights* weights,
                          std::uint8_t* contexts) {
  const std::uint64_t block = std::uint64_t{blockIdx.x} * BlockPolicy::threads + threadIdx.x;
  if (block * block_codes >= pass.blocked) return;
  contexts[block] = context_of_block<Number>(pass, block, weights);
}

__global__ void spread_kernel(const std::uint8_t* of_blocks, std::uint64_t codes,
                              std::uint8_t* contexts) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < codes) contexts[i] = of_blocks[i / block_codes];
}

}  // namespace

template <class T>
void fill_block_contexts(DeviceContext& gpu, const PassView<T>& pass, const ContextWeights* weights,
                         std::uint8_t* contexts) {
  if (pass.geometry == Geometry::cube) {
    return fill_cube_block_contexts(gpu, pass, weights, contexts);
  }
  const auto blocks = blocks_for(ceil_div(pass.blocked, block_codes), BlockPolicy::threads);
  constexpr std::uint64_t many = std::uint64_t{1} << 29;
  const auto kernel = pass.blocked < many ? block_contexts_kernel<std::uint32_t, T>
                                          : block_contexts_kernel<std::uint64_t, T>;
  kernel<<<blocks, BlockPolicy::threads, 0, gpu.stream()>>>(pass, weights, contexts);
  check_launch("fill_block_contexts");
}

void spread_block_contexts(DeviceContext& gpu, const std::uint8_t* of_blocks, std::uint64_t codes,
                           std::uint8_t* contexts) {
  launch_items(gpu, "spread_block_contexts", codes, spread_kernel, of_blocks, codes, contexts);
}

template void fill_block_contexts(DeviceContext&, const PassView<float>&, const ContextWeights*,
                                  std::uint8_t*);
template void fill_block_contexts(DeviceContext&, const PassView<double>&, const ContextWeights*,
                                  std::uint8_t*);

}  // namespace cuszi::gpu

#include "gpu/multilevel/local_quantizers.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr std::uint64_t thread_points = 16;  ///< of a row

__global__ void spread_bounds_kernel(const __grid_constant__ BlockRows rows,
                                     const std::uint8_t* blocks, std::uint64_t pieces,
                                     std::uint8_t* points) {
  const std::uint64_t i = ItemPolicy::first();
  const std::uint64_t row = i / pieces;
  if (row >= rows.rows()) return;
  const std::uint64_t begin = i % pieces * thread_points;
  const std::uint64_t end =
      begin + thread_points < rows.row_points() ? begin + thread_points : rows.row_points();
  const std::uint8_t* const first = blocks + rows.first_block(row);
  std::uint8_t* const out = points + row * rows.row_points();
  for (std::uint64_t x = begin; x < end; ++x) out[x] = first[rows.block_in_row(x)];
}

}  // namespace

const std::uint8_t* spread_bounds(DeviceContext& gpu, const LocalBounds& local,
                                  const Selection& points, std::uint8_t* out) {
  const BlockRows rows = BlockRows::of(points);
  const std::uint8_t* const blocks = upload(gpu, local.blocks.data(), local.blocks.size());
  const std::uint64_t pieces = ceil_div(rows.row_points(), thread_points);
  launch_items(gpu, "spread_bounds", rows.rows() * pieces, spread_bounds_kernel, rows, blocks,
               pieces, out);
  return out;
}

}  // namespace cuszi::gpu

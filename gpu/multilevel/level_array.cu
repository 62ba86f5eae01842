#include "gpu/multilevel/level_array.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

/// Threads x along rows, y over rows; blocks y take slices in turn, z parts of long rows.
template <class T>
__global__ void __launch_bounds__(LevelPolicy::threads)
    refine_kernel(__grid_constant__ const LevelArray<T> from,
                  __grid_constant__ const LevelArray<T> to, Index4 factors) {
  const Index4& extents = from.layout.extents;
  const std::uint64_t y = std::uint64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (y >= extents[2]) return;
  const std::uint64_t slices = extents[0] * extents[1];
  for (std::uint64_t slice = blockIdx.y; slice < slices; slice += gridDim.y) {
    const std::uint64_t at0 = slice / extents[1];
    const std::uint64_t at1 = slice - at0 * extents[1];
    const std::uint64_t source = from.layout.row_of({at0, at1, y, 0});
    const std::uint64_t target =
        to.layout.row_of({at0 * factors[0], at1 * factors[1], y * factors[2], 0});
    for (std::uint64_t x = std::uint64_t{blockIdx.z} * blockDim.x + threadIdx.x; x < extents[3];
         x += std::uint64_t{gridDim.z} * blockDim.x) {
      const std::uint64_t here = source + from.layout.place_in_row(x);
      const std::uint64_t there = target + to.layout.place_in_row(x * factors[3]);
      to.values[there] = from.values[here];
      to.magnitudes[there] = from.magnitudes[here];
    }
  }
}

/// One row per threadIdx.y.
template <class T>
__global__ void __launch_bounds__(LevelPolicy::threads)
    join_rows_kernel(__grid_constant__ const LevelLayout layout, std::uint64_t rows, T* values) {
  extern __shared__ __align__(16) std::byte memory[];
  const auto width = static_cast<std::uint32_t>(layout.extents[3]);
  const std::uint64_t row = std::uint64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  T* const joined = reinterpret_cast<T*>(memory) + threadIdx.y * width;
  T* const at = values + row * width;
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < width && row < rows; i += blockDim.x) {
    joined[i < layout.odd ? 2 * i : 2 * (i - layout.odd) + 1] = at[i];
  }
  __syncthreads();
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < width && row < rows; i += blockDim.x) at[i] = joined[i];
}

}  // namespace

LevelLayout level_layout(const Lattice& lattice, int level, ByteCount value_size) {
  LevelLayout layout;
  const std::uint64_t spacing = std::uint64_t{1} << (level - lattice.finest);
  std::uint64_t stride = 1;
  std::uint64_t original = 1;
  for (unsigned axis = max_axes; axis-- > 0;) {
    const bool is_lattice = lattice.roles[axis] == AxisRole::lattice;
    layout.extents[axis] =
        is_lattice ? ceil_div(lattice.extents[axis], spacing) : lattice.extents[axis];
    layout.strides[axis] = stride;
    layout.original_strides[axis] = original * (is_lattice ? spacing : 1);
    stride *= layout.extents[axis];
    original *= lattice.extents[axis];
  }
  const bool splits = lattice.roles[3] == AxisRole::lattice && layout.extents[3] > 1 &&
                      layout.extents[3] * value_size <= LevelPolicy::longest_split_row_bytes;
  if (splits) layout.odd = static_cast<std::uint32_t>(ceil_div(layout.extents[3], 2));
  return layout;
}

template <class T>
void refine(DeviceContext& gpu, const Lattice& lattice, const LevelArray<T>& from,
            const LevelArray<T>& to) {
  Index4 factors{1, 1, 1, 1};
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (lattice.roles[axis] == AxisRole::lattice) factors[axis] = 2;
  }
  const Index4& extents = from.layout.extents;
  const dim3 block(32, LevelPolicy::threads / 32);
  const dim3 grid(
      blocks_for(extents[2], block.y),
      static_cast<unsigned>(std::min(extents[0] * extents[1], LevelPolicy::most_blocks_of_axis)),
      parts_of_row(extents[3]));
  refine_kernel<T><<<grid, block, 0, gpu.stream()>>>(from, to, factors);
  check_launch("refine");
}

template <class T>
void join_rows(DeviceContext& gpu, const LevelLayout& layout, T* values) {
  if (layout.odd == 0) return;
  const std::uint64_t rows = layout.extents[0] * layout.extents[1] * layout.extents[2];
  const ByteCount row_bytes = layout.extents[3] * sizeof(T);
  unsigned rows_of_block = 1;
  while (rows_of_block < 8 &&
         2 * rows_of_block * row_bytes <= LevelPolicy::longest_split_row_bytes) {
    rows_of_block *= 2;
  }
  const dim3 block(LevelPolicy::threads / rows_of_block, rows_of_block);
  join_rows_kernel<T>
      <<<blocks_for(rows, rows_of_block), block, rows_of_block * row_bytes, gpu.stream()>>>(
          layout, rows, values);
  check_launch("join_rows");
}

template void refine(DeviceContext&, const Lattice&, const LevelArray<float>&,
                     const LevelArray<float>&);
template void refine(DeviceContext&, const Lattice&, const LevelArray<double>&,
                     const LevelArray<double>&);
template void join_rows(DeviceContext&, const LevelLayout&, float*);
template void join_rows(DeviceContext&, const LevelLayout&, double*);

}  // namespace cuszi::gpu

#include "gpu/cells/line.cuh"
#include "gpu/cells/load.cuh"
#include "gpu/cells/values.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

/// Codes that follow each other.
template <int count>
__device__ void load_codes(const std::int16_t* from, std::int32_t (&codes)[count]) {
  if constexpr (count == 1) {
    codes[0] = *from;
  } else {
    std::uint32_t pairs[count / 2];
    if constexpr (count == 2) {
      pairs[0] = *reinterpret_cast<const std::uint32_t*>(from);
    } else if constexpr (count == 4) {
      const auto loaded = *reinterpret_cast<const uint2*>(from);
      pairs[0] = loaded.x, pairs[1] = loaded.y;
    } else {
      const auto loaded = *reinterpret_cast<const uint4*>(from);
      pairs[0] = loaded.x, pairs[1] = loaded.y, pairs[2] = loaded.z, pairs[3] = loaded.w;
    }
    CUSZI_UNROLL
    for (int i = 0; i < count / 2; ++i) {
      codes[2 * i] = static_cast<std::int32_t>(pairs[i] << 16) >> 16;
      codes[2 * i + 1] = static_cast<std::int32_t>(pairs[i]) >> 16;
    }
  }
}

/// A code as a number, without a conversion.
template <class T>
__device__ T number_of_code(std::int32_t code) {
  using Bits = typename IntegerBits<T>::Bits;
  const auto offset = static_cast<Bits>(static_cast<std::make_signed_t<Bits>>(code));
  const Bits bits = std::bit_cast<Bits>(IntegerBits<T>::rounding) + offset;
  return std::bit_cast<T>(bits) - IntegerBits<T>::rounding;
}

/// A cell that a thread block restores.
template <class T, class Shape, bool is_cut>
class CellDecoder {
 public:
  __device__ CellDecoder(const RestoreCellsTask<T>& task, const CellTile& tile, T* values,
                         const std::uint64_t* live)
      : task_(task), tile_(tile), values_(values), live_(live) {}

  __device__ __forceinline__ void restore() const {
    if (threadIdx.x < 1U << Shape::rank) {
      const CellCorner<Shape> corner(threadIdx.x);
      values_[corner.place()] =
          corner.is_inside(tile_)
              ? task_.quantizer.anchor(task_.anchors[corner.tile(task_.grid, tile_)])
              : T(0);
    }
    __syncthreads();
    for_each_line_of_cell<Shape>(
        task_.stride, [&]<class L>(L /*line*/, int number) { restore_line(LinePlace<L>(number)); });
  }

 private:
  template <class L>
  __device__ __forceinline__ void restore_line(const LinePlace<L>& at) const {
    constexpr int level = level_of_spacing(L::spacing);
    constexpr int length = LineCodes<L>::run;
    std::int32_t codes[LineCodes<L>::runs][length];
    const CodeSource source(at, task_.grid, tile_);
    CUSZI_UNROLL
    for (int run = 0; run < LineCodes<L>::runs; ++run) {
      const int position = LineCodes<L>::position(source.b, source.c, at.first + run * length);
      CUSZI_UNROLL
      for (int k = 0; k < length; ++k) codes[run][k] = 0;
      if ((live_[source.neighbour] >> (position / cell_block_codes) & 1) != 0)
        load_codes(task_.codes + (source.tile * cell_codes + position), codes[run]);
    }
    T predicted[L::points];
    LinePrediction<L, is_cut, T>(values_, tile_, at, task_.weights)(predicted);
    T* const line =
        values_ + L::place(L::spacing, at.on_across(), at.on_beyond()) + at.first * L::stride;
    CUSZI_UNROLL
    for (int k = 0; k < L::points; ++k)
      line[k * L::stride] = task_.quantizer.restored(
          level, predicted[k], number_of_code<T>(codes[k / length][k % length]));
  }

  /// Where the codes of a line are: on a far face, in the tile behind that.
  struct CodeSource {
    int b;
    int c;
    int neighbour = 0;  ///< which axes have been passed: bit 0 for z, 1 for y, 2 for x
    std::uint64_t tile;

    template <class L>
    __device__ CodeSource(const LinePlace<L>& at, const CellGrid& grid, const CellTile& here)
        : b(at.b), c(at.c), tile(here.number) {
      if (!L::is_odd(L::across) && Shape::has(L::across) && b == L::cells) {
        b = 0;
        neighbour |= 1 << L::across;
        tile += grid.step(L::across);
      }
      if (!L::is_odd(L::beyond) && Shape::has(L::beyond) && c == L::cells) {
        c = 0;
        neighbour |= 1 << L::beyond;
        tile += grid.step(L::beyond);
      }
    }
  };

  const RestoreCellsTask<T>& task_;
  const CellTile& tile_;
  T* values_;
  const std::uint64_t* live_;
};

/// Hands out the tile's own points, all of them, by all threads of a block.
template <class T, class Shape>
__device__ void store_cell(const RestoreCellsTask<T>& task, const CellTile& tile, const T* cell,
                           bool by_vectors) {
  constexpr int size = ValueVector<T>::size;
  constexpr int of_row = Shape::tile / size;
  constexpr int rows_of_slice = Shape::extent(1);
  constexpr int rows = Shape::extent(0) * rows_of_slice;
  T* const first = task.out + task.grid.index(tile.first[0], tile.first[1], tile.first[2]);
  const std::uint64_t row_step = task.grid.extents[2];
  const std::uint64_t slice_step = task.grid.extents[1] * row_step;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < rows * of_row;
       i += CellsPolicy::cell_threads<Shape>) {
    const int row = i / of_row;
    const int z = row / rows_of_slice;
    const int y = row % rows_of_slice;
    const int x = i % of_row * size;
    if (!tile.is_inside(z, y, x)) continue;
    const T* const even = cell + CellPlaces<Shape>::of(z, y, x);
    const T* const odd = cell + CellPlaces<Shape>::of(z, y, x + 1);
    ValueVector<T> values;
    CUSZI_UNROLL
    for (int j = 0; j < size / 2; ++j) {
      values.of[2 * j] = task.quantizer.handed_out(even[j]);
      values.of[2 * j + 1] = task.quantizer.handed_out(odd[j]);
    }
    T* const to =
        first + static_cast<unsigned>(z) * slice_step + static_cast<unsigned>(y) * row_step + x;
    if (by_vectors) {  // whole vectors are inside
      __stcs(reinterpret_cast<uint4*>(to), __builtin_bit_cast(uint4, values));
    } else {
      CUSZI_UNROLL
      for (int j = 0; j < size; ++j)
        if (x + j <= tile.last[2]) to[j] = values.of[j];
    }
  }
}

/// The same for the points of a coarser lattice.
template <class T, class Shape>
__device__ void store_lattice(const RestoreCellsTask<T>& task, const CellTile& tile,
                              const T* cell) {
  const auto stride = static_cast<unsigned>(task.stride);
  unsigned own[axis_count];
  std::uint64_t first[axis_count];
  for (int axis = 0; axis < axis_count; ++axis) {
    own[axis] = static_cast<unsigned>(min(tile.last[axis], Shape::extent(axis) - 1)) / stride + 1;
    first[axis] = tile.first[axis] / stride;
  }
  for (unsigned i = threadIdx.x; i < own[0] * own[1] * own[2];
       i += CellsPolicy::cell_threads<Shape>) {
    const unsigned x = i % own[2];
    const unsigned y = i / own[2] % own[1];
    const unsigned z = i / own[2] / own[1];
    const auto at = [&](unsigned coordinate) { return static_cast<int>(coordinate * stride); };
    task.out[((first[0] + z) * task.out_extents[1] + first[1] + y) * task.out_extents[2] +
             first[2] + x] =
        task.quantizer.handed_out(cell[CellPlaces<Shape>::of(at(z), at(y), at(x))]);
  }
}

template <class T, class Shape>
__global__ void __launch_bounds__(CellsPolicy::cell_threads<Shape>,
                                  CellsPolicy::cell_blocks<T, Shape>)
    decode_cells(const __grid_constant__ RestoreCellsTask<T> task, bool by_vectors) {
  __shared__ T values[CellPlaces<Shape>::count];
  __shared__ std::uint64_t live[1 << axis_count];
  __shared__ CellTile tile;
  if (threadIdx.x == 0) tile = task.grid.template tile<Shape>(tile_of_block<Shape>(task.grid));
  __syncthreads();
  if (!Shape::has(0) && tile.first[0] % static_cast<unsigned>(task.stride) != 0) return;
  if (threadIdx.x < 1U << axis_count) {
    bool exists = true;
    std::uint64_t at = tile.number;
    for (int axis = 0; axis < axis_count; ++axis) {
      if ((threadIdx.x >> axis & 1) == 0) continue;
      exists = exists && Shape::has(axis) && tile.last[axis] == Shape::tile;
      at += task.grid.step(axis);
    }
    live[threadIdx.x] = exists ? task.live[at] : 0;
  }
  __syncthreads();
  if (tile.is_whole) {
    CellDecoder<T, Shape, false>(task, tile, values, live).restore();
  } else {
    CellDecoder<T, Shape, true>(task, tile, values, live).restore();
  }
  if (task.stride == 1) {
    store_cell<T, Shape>(task, tile, values, by_vectors);
  } else {
    store_lattice<T, Shape>(task, tile, values);
  }
}

}  // namespace

template <class T>
void restore_cells(DeviceContext& gpu, int rank, const RestoreCellsTask<T>& task,
                   const Extents3& extents) {
  with_cell_rank(rank, [&](auto shape) {
    using Shape = decltype(shape);
    decode_cells<T, Shape>
        <<<grid_of(task.grid.count()), CellsPolicy::cell_threads<Shape>, 0, gpu.stream()>>>(
            task, allows_vectors(extents, task.out));
  });
  check_launch("decode_cells");
}

template void restore_cells(DeviceContext&, int, const RestoreCellsTask<float>&, const Extents3&);
template void restore_cells(DeviceContext&, int, const RestoreCellsTask<double>&, const Extents3&);

}  // namespace cuszi::gpu

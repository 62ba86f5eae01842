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

template <class Block>
struct RestoredCells : Block {
  /// Which blocks of a tile and of those behind it have codes.
  std::uint64_t live[Block::tiles][1 << axis_count];
};

/// Restores the cells of a thread block.
template <class T, class Block, bool is_cut, bool is_local>
class CellDecoder {
 public:
  using Shape = typename Block::Shape;

  __device__ CellDecoder(const RestoreCellsTask<T>& task, RestoredCells<Block>& cells)
      : task_(task), cells_(cells) {}

  __device__ __forceinline__ void restore() const {
    constexpr int corners = 1 << Shape::rank;
    cells_.template for_each_item<corners>([&](int number, int corner_number) {
      const CellCorner<Shape> corner(static_cast<unsigned>(corner_number));
      cells_.values[number][corner.place()] =
          corner.is_inside(cells_.tile[number]) ? anchor(number, corner) : T(0);
    });
    __syncthreads();
    for_each_line_of_cell<Block>(task_.stride, [&]<class L>(L /*line*/, int tile, int line) {
      restore_line(tile, LinePlace<L>(line));
    });
  }

 private:
  __device__ T anchor(int number, const CellCorner<Shape>& corner) const {
    const CellTile& here = cells_.tile[number];
    const std::uint64_t tile = corner.tile(task_.grid, here);
    const T anchor = task_.quantizer.anchor(task_.anchors[tile]);
    if (!is_local || (cells_.live[number][corner.ends()] & 1) == 0) return anchor;
    return local_quantizer(task_.local, task_.grid, here, corner.coordinate(0),
                           corner.coordinate(1), corner.coordinate(2))
        .restored(Shape::levels - 1, anchor, static_cast<T>(task_.codes[tile * cell_codes]));
  }
  template <class L>
  __device__ __forceinline__ const CellsQuantizer<T>& quantizer_of(int number,
                                                                   const LinePlace<L>& at,
                                                                   int k) const {
    if constexpr (is_local) {
      return local_quantizer(task_.local, task_.grid, cells_.tile[number], at.coordinate(0, k),
                             at.coordinate(1, k), at.coordinate(2, k));
    } else {
      return task_.quantizer;
    }
  }

  template <class L>
  __device__ __forceinline__ void restore_line(int number, const LinePlace<L>& at) const {
    constexpr int level = level_of_spacing(L::spacing);
    constexpr int length = LineCodes<L>::run;
    std::int32_t codes[LineCodes<L>::runs][length];
    const CellTile& tile = cells_.tile[number];
    const CodeSource source(at, task_.grid, tile);
    CUSZI_UNROLL
    for (int run = 0; run < LineCodes<L>::runs; ++run) {
      const int position = LineCodes<L>::position(source.b, source.c, at.first + run * length);
      CUSZI_UNROLL
      for (int k = 0; k < length; ++k) codes[run][k] = 0;
      if ((cells_.live[number][source.neighbour] >> (position / cell_block_codes) & 1) != 0)
        load_codes(task_.codes + (source.tile * cell_codes + position), codes[run]);
    }
    T predicted[L::points];
    T* const values = cells_.values[number];
    LinePrediction<L, is_cut, T>(values, tile, at, task_.weights)(predicted);
    T* const line =
        values + L::place(L::spacing, at.on_across(), at.on_beyond()) + at.first * L::stride;
    CUSZI_UNROLL
    for (int k = 0; k < L::points; ++k)
      line[k * L::stride] =
          quantizer_of(number, at, k)
              .restored(level, predicted[k], number_of_code<T>(codes[k / length][k % length]));
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
  RestoredCells<Block>& cells_;
};

/// Hands out the tiles' own points, all of them, by all threads of a block.
template <class T, class Block>
__device__ void store_cells(const RestoreCellsTask<T>& task, const Block& cells, bool by_vectors) {
  using Shape = typename Block::Shape;
  constexpr int size = ValueVector<T>::size;
  Block::template for_each_vector<0, size>([&](int number, int z, int y, int x) {
    const CellTile& tile = cells.tile[number];
    if (!tile.is_inside(z, y, x)) return;
    const T* const even = cells.values[number] + CellPlaces<Shape>::of(z, y, x);
    const T* const odd = cells.values[number] + CellPlaces<Shape>::of(z, y, x + 1);
    ValueVector<T> values;
    CUSZI_UNROLL
    for (int j = 0; j < size / 2; ++j) {
      values.of[2 * j] = task.quantizer.handed_out(even[j]);
      values.of[2 * j + 1] = task.quantizer.handed_out(odd[j]);
    }
    T* const to = point_of_tile(task.grid, task.out + cells.begin[number], z, y, x);
    if (by_vectors) {  // whole vectors are inside
      __stcs(reinterpret_cast<uint4*>(to), __builtin_bit_cast(uint4, values));
    } else {
      CUSZI_UNROLL
      for (int j = 0; j < size; ++j)
        if (x + j <= tile.last[2]) to[j] = values.of[j];
    }
  });
}

/// Hands out those of a tile's own points that lie on a coarser lattice.
template <class Block, class T>
__device__ void store_lattice(const RestoreCellsTask<T>& task, const CellTile& tile,
                              const T* cell) {
  using Shape = typename Block::Shape;
  const auto stride = static_cast<unsigned>(task.stride);
  if (!Shape::has(0) && tile.first[0] % stride != 0) return;
  unsigned own[axis_count];
  std::uint64_t first[axis_count];
  for (int axis = 0; axis < axis_count; ++axis) {
    own[axis] = static_cast<unsigned>(min(tile.last[axis], Shape::extent(axis) - 1)) / stride + 1;
    first[axis] = tile.first[axis] / stride;
  }
  for (unsigned i = threadIdx.x; i < own[0] * own[1] * own[2]; i += Block::threads) {
    const unsigned x = i % own[2];
    const unsigned y = i / own[2] % own[1];
    const unsigned z = i / own[2] / own[1];
    const auto at = [&](unsigned coordinate) { return static_cast<int>(coordinate * stride); };
    task.out[((first[0] + z) * task.out_extents[1] + first[1] + y) * task.out_extents[2] +
             first[2] + x] =
        task.quantizer.handed_out(cell[CellPlaces<Shape>::of(at(z), at(y), at(x))]);
  }
}

/// Which blocks of a tile, and of the tiles behind it along the axes of a set, have codes.
template <class Shape, class T>
__device__ std::uint64_t live_blocks(const RestoreCellsTask<T>& task, const CellTile& tile,
                                     unsigned axes) {
  std::uint64_t at = tile.number;
  for (int axis = 0; axis < axis_count; ++axis) {
    if ((axes >> axis & 1) == 0) continue;
    if (!Shape::has(axis) || tile.last[axis] != Shape::tile) return 0;
    at += task.grid.step(axis);
  }
  return task.live[at];
}

template <class T, class Block, class Frames, bool is_local>
__global__ void __launch_bounds__(Block::threads, Block::of_multiprocessor)
    decode_cells(const __grid_constant__ Frames frames, bool by_vectors) {
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  unsigned unused;
  const RestoreCellsTask<T>& task = frames.find(shared, unused);
  extern __shared__ __align__(16) std::byte shared_cells[];
  auto& cells = *reinterpret_cast<RestoredCells<Block>*>(shared_cells);
  using Shape = typename Block::Shape;
  const bool is_whole = cells.take_tiles(task.grid);
  if (!Shape::has(0)) {
    const bool is_read = threadIdx.x < Block::tiles &&
                         cells.tile[threadIdx.x].first[0] % static_cast<unsigned>(task.stride) == 0;
    if (__syncthreads_or(is_read) == 0) return;
  }
  Block::template for_each_item<1 << axis_count>([&](int number, int axes) {
    cells.live[number][axes] =
        live_blocks<Shape>(task, cells.tile[number], static_cast<unsigned>(axes));
  });
  __syncthreads();
  if constexpr (is_local) {  // all are restored as those that are cut
    CellDecoder<T, Block, true, true>(task, cells).restore();
  } else if (is_whole) {
    CellDecoder<T, Block, false, false>(task, cells).restore();
  } else {
    CellDecoder<T, Block, true, false>(task, cells).restore();
  }
  if (task.stride == 1) {
    store_cells(task, cells, by_vectors);
  } else {
    for (int number = 0; number < Block::tiles; ++number)
      store_lattice<Block>(task, cells.tile[number], cells.values[number]);
  }
}

}  // namespace

template <class T>
void restore_cells(DeviceContext& gpu, int rank, const FrameTasks<RestoreCellsTask<T>>& frames) {
  const RestoreCellsTask<T>& first = frames.list().front();
  const std::uint64_t* const extents = first.grid.extents;
  const bool by_vectors = allows_vectors({extents[0], extents[1], extents[2]}, first.out);
  with_cells_of_block<T>(gpu.device(), rank, [&]<class Block>(std::type_identity<Block>) {
    using Cells = RestoredCells<Block>;
    if (first.local.any()) {  // frames under local bounds are restored alone
      using Frames = OneFrame<RestoreCellsTask<T>>;
      launch_cells<Cells>(gpu, decode_cells<T, Block, Frames, true>, Frames{first}, first.grid, 1,
                          by_vectors);
      return;
    }
    frames.visit([&]<class Frames>(const Frames& tasks) {
      launch_cells<Cells>(gpu, decode_cells<T, Block, Frames, false>, tasks, first.grid,
                          frames.count(), by_vectors);
    });
  });
  check_launch("decode_cells");
}

template void restore_cells(DeviceContext&, int, const FrameTasks<RestoreCellsTask<float>>&);
template void restore_cells(DeviceContext&, int, const FrameTasks<RestoreCellsTask<double>>&);

}  // namespace cuszi::gpu

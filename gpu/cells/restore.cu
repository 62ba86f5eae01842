#include "gpu/cells/line.cuh"
#include "gpu/cells/values.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

template <class T>
__device__ T flipped_number(std::uint32_t code) {
  using Bits = typename IntegerBits<T>::Bits;
  constexpr T origin = IntegerBits<T>::zero + T(0x8000);
  return std::bit_cast<T>(std::bit_cast<Bits>(IntegerBits<T>::zero) | code) - origin;
}

/// Codes that follow each other, two in a word, the earlier one in its low half.
template <int count>
struct alignas(2 * count) RunOfCodes {
  std::uint32_t pairs[count / 2];

  /// The codes as numbers, without conversions: with their signs flipped they are not negative, and
  /// fit the low bits of a significand.
  template <class T>
  __device__ void as_numbers(T* numbers) const {
    CUSZI_UNROLL
    for (int i = 0; i < count / 2; ++i) {
      const std::uint32_t flipped = pairs[i] ^ 0x80008000U;
      numbers[2 * i] = flipped_number<T>(flipped & 0xffffU);
      numbers[2 * i + 1] = flipped_number<T>(flipped >> 16);
    }
  }
};
template <>
struct RunOfCodes<1> {
  std::uint16_t code;

  template <class T>
  __device__ void as_numbers(T* numbers) const {
    numbers[0] = flipped_number<T>(code ^ 0x8000U);
  }
};

/// The tiles of a thread block with those behind them, by the axes that have been passed: bit 0 for
/// z, 1 for y, 2 for x.
template <class Block>
struct RestoredCells : Block {
  std::uint64_t live[Block::tiles][1 << axis_count];  ///< which blocks have codes
  std::uint32_t numbers[Block::tiles][1 << axis_count];
};

/// Restores the cells of a thread block.
template <class T, class Block, bool is_cut, bool is_local>
class CellDecoder {
 public:
  using Shape = typename Block::Shape;

  template <class L>
  struct Fetched {
    RunOfCodes<LineCodes<L>::run> runs[LineCodes<L>::runs];
  };

  __device__ CellDecoder(const RestoreCellsTask<T>& task, RestoredCells<Block>& cells)
      : task_(task), cells_(cells) {}

  __device__ __forceinline__ void restore() const {
    constexpr int corners = 1 << Shape::rank;
    cells_.template for_each_item<corners>([&](int number, int corner_number) {
      const CellCorner<Shape> corner(static_cast<unsigned>(corner_number));
      cells_.values[number][corner.place()] =
          corner.is_inside(cells_.tile[number]) ? anchor(number, corner) : T(0);
    });
    for_each_line_of_cell<Block>(task_.stride, *this);
    __syncthreads();
  }

  /// The codes of a line. Those of a line on a far face are in the tile behind that.
  template <class L>
  __device__ __forceinline__ Fetched<L> fetch(int number, const LinePlace<L>& at) const {
    using Codes = LineCodes<L>;
    const bool is_across = has_far<L>(L::across) && at.b == L::cells;
    const bool is_beyond = has_far<L>(L::beyond) && at.c == L::cells;
    const int axes = (is_across ? 1 << L::across : 0) + (is_beyond ? 1 << L::beyond : 0);
    const int position = Codes::position(is_across ? 0 : at.b, is_beyond ? 0 : at.c, at.first);
    const auto live =
        static_cast<std::uint32_t>(cells_.live[number][axes] >> (position / cell_block_codes));
    const std::int16_t* const from =
        task_.codes + std::uint64_t{cells_.numbers[number][axes]} * cell_codes + position;
    Fetched<L> fetched{};
    CUSZI_UNROLL
    for (int run = 0; run < Codes::runs; ++run) {
      if ((live >> (run * Codes::block_step) & 1) != 0)
        fetched.runs[run] =
            *reinterpret_cast<const RunOfCodes<Codes::run>*>(from + run * Codes::step);
    }
    return fetched;
  }

  template <class L>
  __device__ __forceinline__ void take(int number, const LinePlace<L>& at,
                                       const Fetched<L>& fetched) const {
    constexpr int level = level_of_spacing(L::spacing);
    T steps[L::points];
    CUSZI_UNROLL
    for (int run = 0; run < LineCodes<L>::runs; ++run)
      fetched.runs[run].as_numbers(steps + run * LineCodes<L>::run);
    T predicted[L::points];
    T* const values = cells_.values[number];
    LinePrediction<L, is_cut, T>(values, cells_.tile[number], at, task_.weights)(predicted);
    T* const line = values + at.offset() + L::place(1);
    CUSZI_UNROLL
    for (int k = 0; k < L::points; ++k)
      line[k * L::stride] = quantizer_of(number, at, k).restored(level, predicted[k], steps[k]);
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

  /// Whether there are lines of the next tile's face along an axis.
  template <class L>
  static constexpr bool has_far(int axis) {
    return !L::is_odd(axis) && Shape::has(axis);
  }

  const RestoreCellsTask<T>& task_;
  RestoredCells<Block>& cells_;
};

/// Hands out the tiles' own points, all of them, `size` at once, by all threads of a block.
template <int size, class T, class Block>
__device__ void store_cells(const RestoreCellsTask<T>& task, const Block& cells) {
  using Columns = CellColumns<typename Block::Shape, 0, size>;
  struct alignas(size * sizeof(T)) Vector {
    T of[size];
  };
  constexpr int at_once = Columns::depth < 4 ? Columns::depth : 4;  // so many are read, then stored
  const std::uint64_t step = Columns::step(task.grid);
  Block::template for_each_item<Columns::count>([&](int number, int item) {
    const Columns column(item);
    T* to = task.out + (cells.begin[number] + column.begin(task.grid));
    const T* const from = cells.values[number];
    const int last = column.last(cells.tile[number]);
#pragma unroll 4
    for (int first = 0; first < Columns::depth; first += at_once) {
      Vector values[at_once];
      CUSZI_UNROLL
      for (int i = 0; i < at_once; ++i) {
        CUSZI_UNROLL
        for (int j = 0; j < size; ++j)
          values[i].of[j] = task.quantizer.handed_out(from[column.place(first + i, j)]);
      }
      CUSZI_UNROLL
      for (int i = 0; i < at_once; ++i, to += step) {
        if (first + i > last) continue;
        if constexpr (sizeof(Vector) == sizeof(uint4)) {
          __stcs(reinterpret_cast<uint4*>(to), __builtin_bit_cast(uint4, values[i]));
        } else {
          *to = values[i].of[0];
        }
      }
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

/// Finds the codes of the tiles and of those behind them, by all threads.
template <class T, class Block>
__device__ void find_codes(const RestoreCellsTask<T>& task, RestoredCells<Block>& cells) {
  using Shape = typename Block::Shape;
  Block::template for_each_item<1 << axis_count>([&](int number, int axes) {
    const CellTile& tile = cells.tile[number];
    std::uint64_t at = tile.number;
    bool is_there = true;
    for (int axis = 0; axis < axis_count; ++axis) {
      if ((axes >> axis & 1) == 0) continue;
      is_there = is_there && Shape::has(axis) && tile.last[axis] == Shape::tile;
      at += task.grid.step(axis);
    }
    cells.live[number][axes] = is_there ? task.live[at] : 0;
    cells.numbers[number][axes] = static_cast<std::uint32_t>(at);
  });
}

/// Starts to bring the codes of the tiles, and of those behind them along the slowest axis, to the
/// cache: others behind them are tiles of thread blocks that run at the same time.
template <class T, class Block>
__device__ void prefetch_codes(const RestoreCellsTask<T>& task, const RestoredCells<Block>& cells) {
  constexpr int behind = 1 << (axis_count - Block::Shape::rank);
  Block::template for_each_item<tile_blocks>([&](int number, int block) {
    CUSZI_UNROLL
    for (const int axes : {0, behind}) {
      if ((cells.live[number][axes] >> block & 1) != 0)
        prefetch(task.codes + std::uint64_t{cells.numbers[number][axes]} * cell_codes +
                 block * cell_block_codes);
    }
  });
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
  find_codes(task, cells);
  __syncthreads();
  prefetch_codes(task, cells);
  if constexpr (is_local) {  // all are restored as those that are cut
    CellDecoder<T, Block, true, true>(task, cells).restore();
  } else if (is_whole) {
    CellDecoder<T, Block, false, false>(task, cells).restore();
  } else {
    CellDecoder<T, Block, true, false>(task, cells).restore();
  }
  if (task.stride == 1) {
    if (by_vectors) {
      store_cells<vector_values<T>>(task, cells);
    } else {
      store_cells<1>(task, cells);
    }
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

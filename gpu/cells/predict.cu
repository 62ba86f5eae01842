#include <limits>

#include "gpu/cells/line.cuh"
#include "gpu/cells/values.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

/// Codes that follow each other, as they are stored.
template <int count>
struct alignas(2 * count) CodeRun {
  std::int16_t of[count];
};

/// Patches those of the tiles' own points that may not come back as they are restored, by all
/// threads of a block.
template <class T, class Block>
__device__ __noinline__ void list_patches(const PredictTask<T>& task, const Block& cells) {
  using Shape = typename Block::Shape;
  Block::template for_each_item<cell_codes>([&](int number, int i) {
    const CellTile& tile = cells.tile[number];
    const int x = i % Shape::extent(2);
    const int y = i / Shape::extent(2) % Shape::extent(1);
    const int z = i / Shape::extent(2) / Shape::extent(1);
    if (!tile.is_inside(z, y, x) || !cells.is_new(task.grid, number)) return;
    const std::uint64_t index = task.grid.index(tile.first[0] + static_cast<unsigned>(z),
                                                tile.first[1] + static_cast<unsigned>(y),
                                                tile.first[2] + static_cast<unsigned>(x));
    const T value = task.values[index];
    if (task.has_missing && task.quantizer.is_missing(value, task.rules)) return;
    const T back = task.quantizer.value_of(cells.values[number][CellPlaces<Shape>::of(z, y, x)]);
    const double bound = task.local.any()
                             ? local_quantizer(task.local, task.grid, tile, z, y, x).bound
                             : task.quantizer.bound;
    if (may_restore_to(value, back, bound, task.rules)) return;
    task.patches.set(index);
    const int spacing = 1 << (__ffs(z | y | x | Shape::tile) - 1);
    atomicAdd(task.patch_counts + pass_of_spacing<Shape>(spacing), 1ULL);
  });
}

/// Starts to bring the cells of a thread block to shared memory: their values are there once all
/// threads have called wait_for_copies(). NaN stands for points outside the field.
template <class T, class Block>
__device__ void load_cells(const PredictTask<T>& task, Block& cells) {
  using Columns = CellColumns<typename Block::Shape, 1, 1>;
  const std::uint64_t step = Columns::step(task.grid);
  Block::template for_each_item<Columns::count>([&](int number, int item) {
    const Columns column(item);
    const T* from = task.values + (cells.begin[number] + column.begin(task.grid));
    T* const to = cells.values[number];
    const int last = column.last(cells.tile[number]);
#pragma unroll 17
    for (int i = 0; i < Columns::depth; ++i, from += step)
      if (i <= last) copy_async<sizeof(T)>(to + column.place(i), from);
    CUSZI_NO_UNROLL
    for (int i = last + 1; i < Columns::depth; ++i)
      to[column.place(i)] = std::numeric_limits<T>::quiet_NaN();
  });
}

__device__ float min_or_nan(float a, float b) {
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
}
__device__ float max_or_nan(float a, float b) {
  float largest;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(largest) : "f"(a), "f"(b));
  return largest;
}
__device__ double min_or_nan(double a, double b) { return b < a || b != b ? b : a; }
__device__ double max_or_nan(double a, double b) { return b > a || b != b ? b : a; }

/// The range of the values that a thread has seen; NaN once a value was.
template <class T>
struct ThreadRange {
  T min = std::numeric_limits<T>::max();
  T max = std::numeric_limits<T>::lowest();

  __device__ void include(T value) {
    min = min_or_nan(min, value);
    max = max_or_nan(max, value);
  }
  /// The range of the lanes of a warp, in the first lane; infinite if a value is not finite.
  __device__ ThreadRange of_warp(unsigned lanes) const {
    const unsigned mask = ~0U >> (32 - lanes);
    const bool is_finite = magnitude_of(min) <= std::numeric_limits<T>::max() &&
                           magnitude_of(max) <= std::numeric_limits<T>::max();
    const T infinity = std::numeric_limits<T>::infinity();
    ThreadRange all{is_finite ? min : -infinity, is_finite ? max : infinity};
    for (unsigned half = 16; half > 0; half /= 2) {
      const T least = __shfl_down_sync(mask, all.min, half);
      const T largest = __shfl_down_sync(mask, all.max, half);
      if (threadIdx.x % 32 + half >= lanes) continue;
      all.min = std::fmin(all.min, least);
      all.max = std::fmax(all.max, largest);
    }
    return all;
  }
};

template <class T, class Block>
struct CellsToCode : Block {
  std::uint32_t sums[Block::tiles][tile_blocks];  ///< of magnitudes, of blocks
  T least[(Block::threads + 31) / 32];            ///< of a warp, if the range is wanted
  T largest[(Block::threads + 31) / 32];
};

/// Finds the range of the values of the tiles of a thread block, by warps.
template <class T, class Block>
__device__ __forceinline__ void find_range(CellsToCode<T, Block>& cells, bool is_whole) {
  using Columns = CellColumns<typename Block::Shape, 0, 1>;
  ThreadRange<T> range;
  Block::template for_each_item<Columns::count>([&](int number, int item) {
    const Columns column(item);
    const T* const values = cells.values[number];
    const int last =
        is_whole ? Columns::depth - 1 : min(column.last(cells.tile[number]), Columns::depth - 1);
#pragma unroll 16
    for (int i = 0; i < Columns::depth; ++i)
      if (i <= last) range.include(values[column.place(i)]);
  });
  range = range.of_warp(min(32U, Block::threads - threadIdx.x / 32 * 32));
  if (threadIdx.x % 32 != 0) return;
  cells.least[threadIdx.x / 32] = range.min;
  cells.largest[threadIdx.x / 32] = range.max;
}

/// Adds the range of the thread block to the frame's, by its first warp, after a barrier.
template <class T, class Block>
__device__ __forceinline__ void tell_range(const CellsToCode<T, Block>& cells,
                                           SharedExtremes& range) {
  constexpr unsigned warps = sizeof cells.least / sizeof(T);
  if (threadIdx.x >= 32) return;
  ThreadRange<T> own;
  if (threadIdx.x < warps) own = {cells.least[threadIdx.x], cells.largest[threadIdx.x]};
  own = own.of_warp(32);
  if (threadIdx.x == 0 && own.min <= own.max)
    range.include(static_cast<double>(own.min), static_cast<double>(own.max));
}

/// NaN stands for missing values.
template <class T, class Block>
__device__ void mark_missing(const PredictTask<T>& task, Block& cells) {
  Block::template for_each_item<CellPlaces<typename Block::Shape>::count>(
      [&](int number, int place) {
        T& value = cells.values[number][place];
        if (task.quantizer.is_missing(value, task.rules))
          value = std::numeric_limits<T>::quiet_NaN();
      });
  __syncthreads();
}

/// Codes the cells of a thread block. Values that are missing or outside the field are NaN: those
/// get code 0. Restored values are less the background.
template <class T, class Block, bool is_cut, bool is_local>
class CellEncoder {
 public:
  using Shape = typename Block::Shape;

  template <class L>
  struct Fetched {};

  __device__ CellEncoder(const PredictTask<T>& task, CellsToCode<T, Block>& cells)
      : task_(task), cells_(cells) {}

  /// Returns how far from its value a point of this thread is restored at most; under local bounds,
  /// infinity if that is not certainly within its bound.
  __device__ __forceinline__ T code() {
    constexpr int corners = 1 << Shape::rank;
    cells_.template for_each_item<corners>([&](int number, int corner) {
      place_anchor(number, CellCorner<Shape>(static_cast<unsigned>(corner)));
    });
    for_each_line_of_cell<Block>(1, *this);
    __syncthreads();
    return worst_;
  }

  template <class L>
  __device__ Fetched<L> fetch(int /*tile*/, const LinePlace<L>& /*place*/) const {
    return {};
  }
  template <class L>
  __device__ __forceinline__ void take(int number, const LinePlace<L>& at,
                                       const Fetched<L>& /*fetched*/) {
    constexpr int level = level_of_spacing(L::spacing);
    using Codes = LineCodes<L>;
    T predicted[L::points];
    T* const values = cells_.values[number];
    LinePrediction<L, is_cut, T>(values, cells_.tile[number], at, task_.weights)(predicted);
    T* const line = values + at.offset() + L::place(1);
    CodeRun<Codes::run> codes[Codes::runs];
    T magnitudes[Codes::runs] = {};  // exact
    CUSZI_UNROLL
    for (int k = 0; k < L::points; ++k) {
      const CellsQuantizer<T>& quantizer = quantizer_of(number, at, k);
      const T value = line[k * L::stride] - quantizer.background;
      const CellValue<T> coded = quantizer.quantise(level, value, predicted[k]);
      line[k * L::stride] = coded.restored;
      note_error(magnitude_of(value - coded.restored), quantizer);
      magnitudes[k / Codes::run] += magnitude_of(coded.steps);
      codes[k / Codes::run].of[k % Codes::run] = coded.code;
    }
    if (!at.is_owned()) return;
    const int position = Codes::position(at.b, at.c, at.first);
    std::int16_t* const to = task_.codes + cells_.tile[number].number * cell_codes + position;
    std::uint32_t* const sums = cells_.sums[number] + position / cell_block_codes;
    CUSZI_UNROLL
    for (int run = 0; run < Codes::runs; ++run) {
      *reinterpret_cast<CodeRun<Codes::run>*>(to + run * Codes::step) = codes[run];
      if (magnitudes[run] != 0) {
        atomicAdd(sums + run * Codes::block_step, static_cast<std::uint32_t>(magnitudes[run]));
      }
    }
  }

 private:
  /// Corners outside the field are 0.
  __device__ void place_anchor(int number, const CellCorner<Shape>& corner) {
    const CellTile& tile = cells_.tile[number];
    T restored = 0;
    if (corner.is_inside(tile))
      restored = task_.quantizer.anchor(task_.anchors[corner.tile(task_.grid, tile)]);
    T& placed = cells_.values[number][corner.place()];
    const T value = placed - task_.quantizer.background;
    std::int16_t code = 0;
    if (is_local && corner.is_inside(tile)) {
      const CellsQuantizer<T>& quantizer =
          local_quantizer(task_.local, task_.grid, tile, corner.coordinate(0), corner.coordinate(1),
                          corner.coordinate(2));
      const CellValue<T> coded = quantizer.quantise(Shape::levels - 1, value, restored);
      restored = coded.restored;
      code = coded.code;
      note_error(magnitude_of(value - restored), quantizer);
    } else {
      note_error(magnitude_of(value - restored), task_.quantizer);
    }
    placed = restored;
    if (!corner.is_first()) return;
    task_.codes[tile.number * cell_codes] = code;
    if (code != 0)
      atomicAdd(cells_.sums[number], static_cast<std::uint32_t>(code < 0 ? -code : code));
  }

  __device__ __forceinline__ void note_error(T error, const CellsQuantizer<T>& quantizer) {
    if (!is_local) {
      worst_ = std::fmax(worst_, error);
    } else if (error >= quantizer.certain) {
      worst_ = std::numeric_limits<T>::infinity();
    }
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

  const PredictTask<T>& task_;
  CellsToCode<T, Block>& cells_;
  T worst_ = 0;
};

/// Codes the cells of a block. Under local bounds, all are coded as those that are cut.
template <class T, class Block, bool is_local>
__device__ __forceinline__ T code_block(const PredictTask<T>& task, CellsToCode<T, Block>& cells,
                                        bool is_whole) {
  if constexpr (!is_local) {
    if (is_whole) return CellEncoder<T, Block, false, false>(task, cells).code();
  }
  return CellEncoder<T, Block, true, is_local>(task, cells).code();
}

template <class T, class Block, class Frames, bool is_local>
__global__ void __launch_bounds__(Block::threads, Block::of_multiprocessor)
    code_cells(const __grid_constant__ Frames frames) {
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  unsigned unused;
  const PredictTask<T>& task = frames.find(shared, unused);
  extern __shared__ __align__(16) std::byte shared_cells[];
  auto& cells = *reinterpret_cast<CellsToCode<T, Block>*>(shared_cells);
  const bool is_whole = cells.take_tiles(task.grid);
  load_cells(task, cells);
  Block::template for_each_item<tile_blocks>(
      [&](int number, int block) { cells.sums[number][block] = 0; });
  wait_for_copies();
  __syncthreads();
  if (task.range != nullptr) find_range(cells, is_whole);
  if (task.has_missing) mark_missing(task, cells);
  const T worst = code_block<T, Block, is_local>(task, cells, is_whole);
  Block::template for_each_item<tile_blocks>([&](int number, int block) {
    const std::uint64_t tile = cells.tile[number].number;
    const std::uint64_t coded = task.coded->of[task.grid.cut_of_tile(tile)][block];
    task.classes[tile * tile_blocks + static_cast<unsigned>(block)] =
        class_of_block(cells.sums[number][block], static_cast<std::uint32_t>(__popcll(coded)));
  });
  if (__syncthreads_or(!(worst < task.certain))) list_patches<T, Block>(task, cells);
  if (task.range != nullptr) tell_range(cells, *task.range);
}

}  // namespace

template <class T>
LocalCellsQuantizers<T> local_quantizers(DeviceContext& gpu, const Extents3& extents,
                                         const LocalBounds& local,
                                         const CellsQuantizer<T>& quantizer) {
  std::vector<CellsQuantizer<T>> all = quantizers_of_bounds(quantizer, local);
  for (CellsQuantizer<T>& one : all) one.certain = certain_difference(one);
  return {BlockGrid::of(extents), upload(gpu, local.blocks.data(), local.blocks.size()),
          upload(gpu, all.data(), all.size())};
}

template <class T>
void predict_cells(DeviceContext& gpu, int rank, const PredictTasks<T>& frames) {
  const PredictTask<T>& first = frames.list().front();
  with_cells_of_block<T>(gpu.device(), rank, [&]<class Block>(std::type_identity<Block>) {
    using Cells = CellsToCode<T, Block>;
    if (first.local.any()) {  // frames under local bounds are coded alone
      using Frames = OneFrame<PredictTask<T>>;
      launch_cells<Cells>(gpu, code_cells<T, Block, Frames, true>, Frames{first}, first.grid, 1);
      return;
    }
    frames.visit([&]<class Frames>(const Frames& tasks) {
      launch_cells<Cells>(gpu, code_cells<T, Block, Frames, false>, tasks, first.grid,
                          frames.count());
    });
  });
  check_launch("code_cells");
}

template LocalCellsQuantizers<float> local_quantizers(DeviceContext&, const Extents3&,
                                                      const LocalBounds&,
                                                      const CellsQuantizer<float>&);
template LocalCellsQuantizers<double> local_quantizers(DeviceContext&, const Extents3&,
                                                       const LocalBounds&,
                                                       const CellsQuantizer<double>&);

template void predict_cells(DeviceContext&, int, const PredictTasks<float>&);
template void predict_cells(DeviceContext&, int, const PredictTasks<double>&);

}  // namespace cuszi::gpu

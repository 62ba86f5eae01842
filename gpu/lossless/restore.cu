#include <cub/block/block_scan.cuh>

#include "gpu/lossless/warp_block.cuh"
#include "gpu/lossless/words.cuh"

namespace cuszi::gpu {

namespace {

/// Restored words, as the bits of values once no axis is left.
template <class Word>
struct WordStore {
  WordMap<Word> map;
  bool is_last;

  __device__ Word operator()(Word word) const {
    return is_last ? map.bits_of(word << map.shift()) : word;
  }
};

/// Sums of differences of any order along an axis, one after the other.
template <class Word>
struct RunningSums {
  Word of[most_order] = {};

  __device__ Word next(Word difference, int order) {
    Word word = difference;
    CUSZI_UNROLL
    for (int i = 0; i < most_order; ++i) {
      if (i >= order) continue;
      of[i] += word;
      word = of[i];
    }
    return word;
  }
};

template <class Word>
struct RowsTask {
  DeviceGrid grid;
  std::uint32_t along[2];  ///< rows of blocks in a chunk, along z and y
  const Word* words;
  const std::uint8_t* classes;
  int order;
  WordStore<Word> store;
  Word* out;
};

/// Words of a lane that are side by side.
template <class Word, unsigned count>
struct LaneRow {
  static constexpr unsigned parts = count * sizeof(Word) / sizeof(uint4);

  union {
    Word words[count];
    uint4 whole[parts];
  };

  /// `from` is aligned if all of them exist.
  __device__ void load(const Word* from, unsigned existing) {
    CUSZI_UNROLL
    for (unsigned i = 0; i < parts; ++i) whole[i] = make_uint4(0, 0, 0, 0);
    if (existing == count) {
      CUSZI_UNROLL
      for (unsigned i = 0; i < parts; ++i) whole[i] = reinterpret_cast<const uint4*>(from)[i];
      return;
    }
    CUSZI_UNROLL
    for (unsigned i = 0; i < count; ++i)
      if (i < existing) words[i] = from[i];
  }
  __device__ void store(Word* to, unsigned existing) const {
    if (existing == count && reinterpret_cast<std::uintptr_t>(to) % sizeof(uint4) == 0) {
      CUSZI_UNROLL
      for (unsigned i = 0; i < parts; ++i) reinterpret_cast<uint4*>(to)[i] = whole[i];
      return;
    }
    CUSZI_UNROLL
    for (unsigned i = 0; i < count; ++i)
      if (i < existing) to[i] = words[i];
  }
  /// Sums along the rows of all lanes. `carry` is what came before, then all.
  __device__ void sum(Word& carry) {
    CUSZI_UNROLL
    for (unsigned i = 1; i < count; ++i) words[i] += words[i - 1];
    const unsigned lane = threadIdx.x % 32;
    const Word own = words[count - 1];
    Word end = own;
    CUSZI_UNROLL
    for (unsigned step = 1; step < 32; step *= 2) {
      const Word before = __shfl_up_sync(~0U, end, step);
      if (lane >= step) end += before;
    }
    CUSZI_UNROLL
    for (Word& word : words) word += carry + (end - own);
    carry += __shfl_sync(~0U, end, 31);
  }
};

/// Words from blocks to rows, with sums along rows: a thread block a row of blocks, a warp one or
/// two rows, a lane a block.
template <class Word, int rank>
__global__ void __launch_bounds__(WordsPolicy::threads)
    sum_rows(const __grid_constant__ RowsTask<Word> task) {
  constexpr std::uint32_t depth = rank == 3 ? 4 : 1;
  constexpr std::uint32_t height = rank == 3 ? 4 : 8;
  constexpr std::uint32_t width = rank == 3 ? 4 : 8;
  constexpr unsigned rows_of_warp = depth * height / WordsPolicy::warps;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t in_chunk = task.along[0] * task.along[1];
  const WordChunk chunk = task.grid.chunks[blockIdx.x / in_chunk];
  const std::uint32_t own = blockIdx.x % in_chunk;
  const std::uint32_t block_z = own / task.along[1];
  const std::uint32_t block_y = own % task.along[1];
  if (block_z * depth >= chunk.size[0] || block_y * height >= chunk.size[1]) return;
  const std::uint32_t blocks_y = ceil_div(chunk.size[1], height);
  const std::uint32_t blocks_x = ceil_div(chunk.size[2], width);
  const std::uint64_t first_block = chunk.first_block + (block_z * blocks_y + block_y) * blocks_x;
  const std::uint32_t own_depth = min(depth, chunk.size[0] - block_z * depth);
  const std::uint32_t own_height = min(height, chunk.size[1] - block_y * height);
  Word* const first = task.out + chunk.first_point + block_z * depth * task.grid.plane +
                      block_y * height * task.grid.row;
  Word carry[rows_of_warp][most_order] = {};
  for (std::uint32_t begin = 0; begin < blocks_x; begin += 32) {
    const std::uint32_t block = begin + lane;
    const std::uint32_t x = block * width;
    const std::uint32_t own_width = block < blocks_x ? min(width, chunk.size[2] - x) : 0;
    const bool is_live = own_width != 0 && task.classes[first_block + block] != 0;
    const Word* const from = task.words + (first_block + block) * word_block;
    LaneRow<Word, width> rows[rows_of_warp];
    CUSZI_UNROLL
    for (unsigned k = 0; k < rows_of_warp; ++k) {
      const std::uint32_t row = threadIdx.x / 32 + k * WordsPolicy::warps;
      const bool exists = is_live && row < own_depth * own_height;
      rows[k].load(from + row * own_width, exists ? own_width : 0);
    }
    CUSZI_UNROLL
    for (unsigned k = 0; k < rows_of_warp; ++k) {
      const std::uint32_t row = threadIdx.x / 32 + k * WordsPolicy::warps;
      if (row >= own_depth * own_height) continue;
      CUSZI_UNROLL
      for (int i = 0; i < most_order; ++i)
        if (i < task.order) rows[k].sum(carry[k][i]);
      CUSZI_UNROLL
      for (Word& word : rows[k].words) word = task.store(word);
      rows[k].store(
          first + row / own_height * task.grid.plane + row % own_height * task.grid.row + x,
          own_width);
    }
  }
}

/// The same of frames of one dimension: a thread block a chunk.
template <class Word>
__global__ void __launch_bounds__(WordsPolicy::threads)
    sum_long_rows(const __grid_constant__ RowsTask<Word> task) {
  constexpr unsigned items = 8;
  using Scan = cub::BlockScan<Word, WordsPolicy::threads>;
  __shared__ typename Scan::TempStorage storage;
  const WordChunk chunk = task.grid.chunks[blockIdx.x];
  Word carry[most_order] = {};
  for (std::uint32_t begin = 0; begin < chunk.size[2]; begin += items * WordsPolicy::threads) {
    const std::uint32_t first = begin + threadIdx.x * items;
    const std::uint64_t block = chunk.first_block + first / word_block;
    Word words[items] = {};
    if (first < chunk.size[2] && task.classes[block] != 0) {
      const Word* const from = task.words + block * word_block + first % word_block;
      CUSZI_UNROLL
      for (unsigned i = 0; i < items; ++i)
        if (first + i < chunk.size[2]) words[i] = from[i];
    }
    CUSZI_UNROLL
    for (int i = 0; i < most_order; ++i) {
      if (i >= task.order) continue;
      Word total = 0;
      Scan(storage).InclusiveSum(words, words, total);
      __syncthreads();
      CUSZI_UNROLL
      for (Word& word : words) word += carry[i];
      carry[i] += total;
    }
    CUSZI_UNROLL
    for (unsigned i = 0; i < items; ++i)
      if (first + i < chunk.size[2]) task.out[chunk.first_point + first + i] = task.store(words[i]);
  }
}

template <class Word>
struct ColumnsTask {
  DeviceGrid grid;
  int axis;  ///< of sums
  int other;
  std::uint64_t stride;        ///< along the axis
  std::uint64_t other_stride;  ///< along the other one that is not x
  std::uint32_t parts;         ///< thread blocks of a chunk
  int order;
  WordStore<Word> store;
  Word* words;
};

/// Sums along z or y, in place: a thread a column.
template <class Word>
__global__ void __launch_bounds__(WordsPolicy::threads)
    sum_columns(const __grid_constant__ ColumnsTask<Word> task) {
  constexpr std::uint32_t at_once = 8;
  const WordChunk chunk = task.grid.chunks[blockIdx.x / task.parts];
  const std::uint32_t column = blockIdx.x % task.parts * WordsPolicy::threads + threadIdx.x;
  const std::uint32_t width = chunk.size[2];
  const std::uint32_t other = column / width;
  if (other >= chunk.size[task.other]) return;
  Word* at = task.words + chunk.first_point + other * task.other_stride + column % width;
  RunningSums<Word> sums;
  const std::uint32_t count = chunk.size[task.axis];
  for (std::uint32_t begin = 0; begin < count; begin += at_once) {
    Word words[at_once];
    CUSZI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (begin + i < count) words[i] = at[i * task.stride];
    CUSZI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (begin + i < count) at[i * task.stride] = task.store(sums.next(words[i], task.order));
    at += at_once * task.stride;
  }
}

template <class Word>
struct PlanesTask {
  DeviceGrid grid;
  std::uint32_t parts;  ///< thread blocks of a chunk
  int orders[2];        ///< along z and y
  WordStore<Word> store;
  Word* words;
};

/// Planes whose sums along z and y are made at once: a warp has some rows of each plane.
struct PlanesPolicy {
  static constexpr unsigned rows_of_warp = 12;
  static constexpr unsigned most_rows = rows_of_warp * WordsPolicy::warps;
};

/// Sums along z and y, in place: a thread block 32 columns of all planes, a lane a column.
template <class Word>
__global__ void __launch_bounds__(WordsPolicy::threads)
    sum_planes(const __grid_constant__ PlanesTask<Word> task) {
  constexpr unsigned rows = PlanesPolicy::rows_of_warp;
  __shared__ Word totals[2][WordsPolicy::warps][32];
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const WordChunk chunk = task.grid.chunks[blockIdx.x / task.parts];
  const std::uint32_t x = blockIdx.x % task.parts * 32 + lane;
  const std::uint32_t y = warp * rows;
  const std::uint32_t existing =
      x < chunk.size[2] && y < chunk.size[1] ? min(rows, chunk.size[1] - y) : 0;
  Word* at = task.words + chunk.first_point + y * task.grid.row + x;
  const auto load = [&](const Word* from, Word(&to)[rows]) {
    CUSZI_UNROLL
    for (unsigned i = 0; i < rows; ++i) to[i] = i < existing ? from[i * task.grid.row] : 0;
  };
  Word sums[most_order][rows] = {};
  Word next[rows];
  load(at, next);
  unsigned turn = 0;
  for (std::uint32_t z = 0; z < chunk.size[0]; ++z) {
    Word words[rows];
    CUSZI_UNROLL
    for (unsigned i = 0; i < rows; ++i) words[i] = next[i];
    if (z + 1 < chunk.size[0]) load(at + task.grid.plane, next);
    for (int order = 0; order < task.orders[1]; ++order) {
      CUSZI_UNROLL
      for (unsigned i = 1; i < rows; ++i) words[i] += words[i - 1];
      totals[turn][warp][lane] = words[rows - 1];
      __syncthreads();  // totals of two turns ago are no longer read then
      Word before = 0;
      for (unsigned i = 0; i < warp; ++i) before += totals[turn][i][lane];
      CUSZI_UNROLL
      for (Word& word : words) word += before;
      turn ^= 1;
    }
    CUSZI_UNROLL
    for (int order = 0; order < most_order; ++order) {
      if (order >= task.orders[0]) continue;
      CUSZI_UNROLL
      for (unsigned i = 0; i < rows; ++i) words[i] = sums[order][i] += words[i];
    }
    CUSZI_UNROLL
    for (unsigned i = 0; i < rows; ++i)
      if (i < existing) at[i * task.grid.row] = task.store(words[i]);
    at += task.grid.plane;
  }
}

template <class Word>
void sum_planes_of(DeviceContext& gpu, const DeviceGrid& grid, const Orders& orders,
                   const WordStore<Word>& store, Word* words) {
  PlanesTask<Word> task{};
  task.grid = grid;
  task.parts = ceil_div(grid.chunk[2], 32U);
  task.orders[0] = orders[0];
  task.orders[1] = orders[1];
  task.store = store;
  task.words = words;
  sum_planes<Word><<<grid_of(std::uint64_t{grid.chunk_count} * task.parts), WordsPolicy::threads, 0,
                     gpu.stream()>>>(task);
  check_launch("sum_planes");
}

template <class Word>
void sum_along(DeviceContext& gpu, const DeviceGrid& grid, int axis, int order,
               const WordStore<Word>& store, Word* words) {
  ColumnsTask<Word> task{};
  task.grid = grid;
  task.axis = axis;
  task.other = 1 - axis;
  task.stride = axis == 0 ? grid.plane : grid.row;
  task.other_stride = axis == 0 ? grid.row : grid.plane;
  task.order = order;
  task.store = store;
  task.words = words;
  task.parts = ceil_div(grid.chunk[task.other] * grid.chunk[2], WordsPolicy::threads);
  sum_columns<Word><<<grid_of(std::uint64_t{grid.chunk_count} * task.parts), WordsPolicy::threads,
                      0, gpu.stream()>>>(task);
  check_launch("sum_columns");
}

__global__ void __launch_bounds__(WordsPolicy::threads)
    count_points_of_blocks(DeviceGrid grid, std::uint8_t* points) {
  const WordChunk chunk = grid.chunks[blockIdx.x];
  const Extents3 block = WordGrid::block_of_rank(grid.rank);
  std::uint32_t size[3];
  std::uint32_t along[3];
  for (int axis = 0; axis < 3; ++axis) {
    size[axis] = static_cast<std::uint32_t>(block[static_cast<std::size_t>(axis)]);
    along[axis] = ceil_div(chunk.size[axis], size[axis]);
  }
  const std::uint32_t all = along[0] * along[1] * along[2];
  for (std::uint32_t i = threadIdx.x; i < all; i += WordsPolicy::threads) {
    const std::uint32_t at[] = {i / along[2] / along[1], i / along[2] % along[1], i % along[2]};
    std::uint32_t count = 1;
    for (int axis = 0; axis < 3; ++axis)
      count *= min(size[axis], chunk.size[axis] - at[axis] * size[axis]);
    points[chunk.first_block + i] = static_cast<std::uint8_t>(count);
  }
}

}  // namespace

void count_points(DeviceContext& gpu, const DeviceGrid& grid, std::uint8_t* points) {
  count_points_of_blocks<<<grid.chunk_count, WordsPolicy::threads, 0, gpu.stream()>>>(grid, points);
  check_launch("count_points_of_blocks");
}

template <class Word>
void restore_words(DeviceContext& gpu, const WordHead<Word>& head, const DeviceGrid& grid,
                   const WordsOfBlocks<Word>& blocks, Word* bits) {
  const bool sums_y = grid.rank > 1 && head.orders[1] != 0;
  const bool sums_z = grid.rank > 2 && head.orders[0] != 0;
  RowsTask<Word> task{};
  task.grid = grid;
  task.words = blocks.words;
  task.classes = blocks.classes;
  task.order = head.orders[2];
  task.store = {head.map, !sums_y && !sums_z};
  task.out = bits;
  if (grid.rank == 1) {
    sum_long_rows<Word><<<grid.chunk_count, WordsPolicy::threads, 0, gpu.stream()>>>(task);
  } else {
    const std::uint32_t depth = grid.rank == 3 ? 4 : 1;
    const std::uint32_t height = grid.rank == 3 ? 4 : 8;
    task.along[0] = ceil_div(grid.chunk[0], depth);
    task.along[1] = ceil_div(grid.chunk[1], height);
    const unsigned launched =
        grid_of(std::uint64_t{grid.chunk_count} * task.along[0] * task.along[1]);
    if (grid.rank == 2)
      sum_rows<Word, 2><<<launched, WordsPolicy::threads, 0, gpu.stream()>>>(task);
    else
      sum_rows<Word, 3><<<launched, WordsPolicy::threads, 0, gpu.stream()>>>(task);
  }
  check_launch("sum_rows");
  if (sums_y && sums_z && grid.chunk[1] <= PlanesPolicy::most_rows) {
    sum_planes_of<Word>(gpu, grid, head.orders, {head.map, true}, bits);
    return;
  }
  if (sums_y) sum_along(gpu, grid, 1, head.orders[1], {head.map, !sums_z}, bits);
  if (sums_z) sum_along(gpu, grid, 0, head.orders[0], {head.map, true}, bits);
}

template void restore_words(DeviceContext&, const WordHead<std::uint32_t>&, const DeviceGrid&,
                            const WordsOfBlocks<std::uint32_t>&, std::uint32_t*);
template void restore_words(DeviceContext&, const WordHead<std::uint64_t>&, const DeviceGrid&,
                            const WordsOfBlocks<std::uint64_t>&, std::uint64_t*);

}  // namespace cuszi::gpu

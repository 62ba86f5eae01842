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

/// Words from blocks to rows, with sums along rows: a thread block a row of blocks, a warp a row.
template <class Word, int rank>
__global__ void __launch_bounds__(WordsPolicy::threads)
    sum_rows(const __grid_constant__ RowsTask<Word> task) {
  constexpr std::uint32_t depth = rank == 3 ? 4 : 1;
  constexpr std::uint32_t height = rank == 3 ? 4 : 8;
  constexpr std::uint32_t width = rank == 3 ? 4 : 8;
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
  for (std::uint32_t row = threadIdx.x / 32; row < own_depth * own_height;
       row += WordsPolicy::warps) {
    const std::uint32_t z = row / own_height;
    const std::uint32_t y = row % own_height;
    Word* const to = task.out + chunk.first_point + (block_z * depth + z) * task.grid.plane +
                     (block_y * height + y) * task.grid.row;
    Word carry[most_order] = {};
#pragma unroll 2
    for (std::uint32_t begin = 0; begin < chunk.size[2]; begin += 32) {
      const std::uint32_t x = begin + lane;
      Word word = 0;
      if (x < chunk.size[2]) {
        const std::uint64_t block = first_block + x / width;
        const std::uint32_t own_width = min(width, chunk.size[2] - x / width * width);
        if (task.classes[block] != 0)
          word = task.words[block * word_block + (z * own_height + y) * own_width + x % width];
      }
      CUSZI_UNROLL
      for (int i = 0; i < most_order; ++i) {
        if (i >= task.order) continue;
        CUSZI_UNROLL
        for (unsigned step = 1; step < 32; step *= 2) {
          const Word before = __shfl_up_sync(~0U, word, step);
          if (lane >= step) word += before;
        }
        word += carry[i];
        carry[i] = __shfl_sync(~0U, word, 31);
      }
      if (x < chunk.size[2]) to[x] = task.store(word);
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
                   const DeviceBlocks<Word>& blocks, Word* bits) {
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
  if (sums_y) sum_along(gpu, grid, 1, head.orders[1], {head.map, !sums_z}, bits);
  if (sums_z) sum_along(gpu, grid, 0, head.orders[0], {head.map, true}, bits);
}

template void restore_words(DeviceContext&, const WordHead<std::uint32_t>&, const DeviceGrid&,
                            const DeviceBlocks<std::uint32_t>&, std::uint32_t*);
template void restore_words(DeviceContext&, const WordHead<std::uint64_t>&, const DeviceGrid&,
                            const DeviceBlocks<std::uint64_t>&, std::uint64_t*);

}  // namespace cuszi::gpu

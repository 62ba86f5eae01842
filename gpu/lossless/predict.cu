#include "gpu/field/ranked_bits.cuh"
#include "gpu/lossless/warp_block.cuh"
#include "gpu/lossless/words.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned tile_points = 2048;
constexpr unsigned tile_words_of_thread = tile_points / WordsPolicy::threads;

/// The points that a thread block predicts at once, and blocks. The points of a thread are a step
/// apart.
template <int rank>
struct TileShape;
template <>
struct TileShape<1> {
  static constexpr int z = 1, y = 1, x = 2048;
  static constexpr int block_z = 1, block_y = 1, block_x = 64;
  static constexpr int step_z = 0, step_y = 0, step_x = 256;
};
template <>
struct TileShape<2> {
  static constexpr int z = 1, y = 16, x = 128;
  static constexpr int block_z = 1, block_y = 8, block_x = 8;
  static constexpr int step_z = 0, step_y = 2, step_x = 0;
};
template <>
struct TileShape<3> {
  static constexpr int z = 8, y = 8, x = 32;
  static constexpr int block_z = 4, block_y = 4, block_x = 4;
  static constexpr int step_z = 1, step_y = 0, step_x = 0;
};

template <class Word>
struct PredictTask {
  const Word* bits;
  WordMap<Word> map;
  Word factors[3][most_order + 1];  ///< of neighbours at distance 0, 1, 2 along an axis
  DeviceGrid grid;
  std::uint32_t tiles_along[3];  ///< in a chunk
  std::uint32_t tiles;           ///< of all chunks
  DeviceBlocks<Word> blocks;
  DeviceCounts* counts;
};

/// A tile in its chunk.
struct TileAt {
  WordChunk chunk;
  int z;
  int y;
  int x;

  template <class Shape, class Task>
  __device__ static TileAt of(const Task& task, std::uint32_t number) {
    const std::uint32_t width = task.tiles_along[2];
    const std::uint32_t height = task.tiles_along[1];
    const std::uint32_t in_chunk = task.tiles_along[0] * height * width;
    const std::uint32_t own = number % in_chunk;
    return {task.grid.chunks[number / in_chunk], static_cast<int>(own / width / height) * Shape::z,
            static_cast<int>(own / width % height) * Shape::y,
            static_cast<int>(own % width) * Shape::x};
  }
  __device__ bool has(int pz, int py, int px) const {
    return pz >= 0 && py >= 0 && px >= 0 && pz < size(0) && py < size(1) && px < size(2);
  }
  __device__ int size(int axis) const { return static_cast<int>(chunk.size[axis]); }
};

/// Words of a tile and of `reach` points before it along each axis; then its differences by blocks.
template <class Word, int rank, int reach>
struct SharedTile {
  using Shape = TileShape<rank>;
  static constexpr int before_z = rank > 2 ? reach : 0;
  static constexpr int before_y = rank > 1 ? reach : 0;
  static constexpr int height = Shape::y + before_y;
  static constexpr int width = Shape::x + reach;
  static constexpr int places = (Shape::z + before_z) * height * width;
  static constexpr int blocks_y = Shape::y / Shape::block_y;
  static constexpr int blocks_x = Shape::x / Shape::block_x;
  static constexpr int blocks = tile_points / word_block;
  /// Rows of blocks side by side are in different banks.
  static constexpr int pitch =
      static_cast<int>(word_block) + (Shape::block_x < 32 ? Shape::block_x : 0);

  /// Points before the tile along y or x.
  static constexpr int before_of_plane = before_y * width + Shape::y * reach;
  static constexpr int before = (Shape::z + before_z) * before_of_plane;

  Word words[places > blocks* pitch ? places : blocks* pitch];

  /// Relative to the tile.
  struct Point {
    int z;
    int y;
    int x;

    __device__ static Point of_thread() {
      const auto i = static_cast<int>(threadIdx.x);
      return {i / (Shape::y * Shape::x), i / Shape::x % Shape::y, i % Shape::x};
    }
    __device__ Point after(int steps) const {
      return {z + steps * Shape::step_z, y + steps * Shape::step_y, x + steps * Shape::step_x};
    }
  };

  __device__ void load(const PredictTask<Word>& task, const TileAt& at) {
    const Point own = Point::of_thread();
    load<tile_words_of_thread + before_z * Shape::step_z>(
        task, at, [&](int k) { return own.after(k - before_z * Shape::step_z); });
    constexpr int at_once = 2;
    constexpr auto threads = static_cast<int>(WordsPolicy::threads);
    CUSZI_NO_UNROLL
    for (int i = static_cast<int>(threadIdx.x); i < before; i += at_once * threads)
      load<at_once>(task, at, [&](int k) { return point_before(i + k * threads); });
  }
  /// Those of a thread, as core's take_differences().
  __device__ void take_differences(const Word (&factors)[3][most_order + 1],
                                   Word (&own)[tile_words_of_thread]) const {
    // Along z, a thread's points are side by side.
    Word planes[tile_words_of_thread + before_z];
    const Point first = Point::of_thread();
    CUSZI_UNROLL
    for (int k = 0; k < static_cast<int>(tile_words_of_thread) + before_z; ++k)
      planes[k] = difference_in_plane(factors, first.after(k - before_z));
    CUSZI_UNROLL
    for (int k = 0; k < static_cast<int>(tile_words_of_thread); ++k) {
      own[k] = 0;
      CUSZI_UNROLL
      for (int i = 0; i <= before_z; ++i) own[k] += factors[0][i] * planes[k + before_z - i];
    }
  }
  __device__ Word& by_blocks(const Point& at) {
    const int block = (at.z / Shape::block_z * blocks_y + at.y / Shape::block_y) * blocks_x +
                      at.x / Shape::block_x;
    const int inside =
        (at.z % Shape::block_z * Shape::block_y + at.y % Shape::block_y) * Shape::block_x +
        at.x % Shape::block_x;
    return words[block * pitch + inside];
  }

 private:
  __device__ int place_of(const Point& at) const {
    return ((at.z + before_z) * height + at.y + before_y) * width + at.x + reach;
  }
  /// The i-th point before the tile along y or x; one far away behind the last.
  __device__ static Point point_before(int i) {
    constexpr int none = 1 << 30;
    if (i >= before) return {0, 0, none};
    const int z = i / before_of_plane - before_z;
    const int rest = i % before_of_plane;
    const int in_rows = rest - before_y * width;
    if (in_rows < 0) return {z, rest / width - before_y, rest % width - reach};
    return {z, in_rows / reach, in_rows % reach - reach};
  }
  /// Loads points, all of them before the first is used.
  template <int count, class PointOf>
  __device__ void load(const PredictTask<Word>& task, const TileAt& tile, const PointOf& point_of) {
    const Word* const first = task.bits + tile.chunk.first_point;
    Word loaded[count];
    CUSZI_UNROLL
    for (int k = 0; k < count; ++k) {
      const Point at = point_of(k);
      const int z = tile.z + at.z;
      const int y = tile.y + at.y;
      const int x = tile.x + at.x;
      loaded[k] = 0;
      if (tile.has(z, y, x))
        loaded[k] = __ldg(first + static_cast<unsigned>(z) * task.grid.plane +
                          static_cast<unsigned>(y) * task.grid.row + static_cast<unsigned>(x));
    }
    CUSZI_UNROLL
    for (int k = 0; k < count; ++k) {
      const Point at = point_of(k);
      if (at.x >= Shape::x) continue;
      const bool exists = tile.has(tile.z + at.z, tile.y + at.y, tile.x + at.x);
      words[place_of(at)] = exists ? task.map.word_of(loaded[k]) : 0;
    }
  }
  __device__ Word difference_in_plane(const Word (&factors)[3][most_order + 1],
                                      const Point& at) const {
    const Word* const own = words + place_of(at);
    Word of_plane = 0;
    CUSZI_UNROLL
    for (int j = 0; j <= before_y; ++j) {
      Word of_row = 0;
      CUSZI_UNROLL
      for (int k = 0; k <= reach; ++k) of_row += factors[2][k] * own[-j * width - k];
      of_plane += factors[1][j] * of_row;
    }
    return of_plane;
  }
};

/// Finds what the chains need to know of a block of a tile, and stores its words, by a warp.
template <class Word, int rank, int reach>
__device__ void finish_block(const PredictTask<Word>& task, const TileAt& at,
                             const SharedTile<Word, rank, reach>& tile, int number,
                             std::uint32_t* counts) {
  using Tile = SharedTile<Word, rank, reach>;
  using Shape = TileShape<rank>;
  const int z = at.z + number / Tile::blocks_x / Tile::blocks_y * Shape::block_z;
  const int y = at.y + number / Tile::blocks_x % Tile::blocks_y * Shape::block_y;
  const int x = at.x + number % Tile::blocks_x * Shape::block_x;
  if (!at.has(z, y, x)) return;
  const int depth = min(Shape::block_z, at.size(0) - z);
  const int height = min(Shape::block_y, at.size(1) - y);
  const int width = min(Shape::block_x, at.size(2) - x);
  const int along_y = (at.size(1) + Shape::block_y - 1) / Shape::block_y;
  const int along_x = (at.size(2) + Shape::block_x - 1) / Shape::block_x;
  const int in_chunk =
      (z / Shape::block_z * along_y + y / Shape::block_y) * along_x + x / Shape::block_x;
  const std::uint64_t block = at.chunk.first_block + static_cast<unsigned>(in_chunk);
  const unsigned lane = threadIdx.x % 32;
  const bool is_whole =
      depth == Shape::block_z && height == Shape::block_y && width == Shape::block_x;
  Word words[2];
  bool exists[2];
  int places[2];
  CUSZI_UNROLL
  for (unsigned k = 0; k < 2; ++k) {
    places[k] = static_cast<int>(lane + 32 * k);
    exists[k] = true;
    words[k] = tile.words[number * Tile::pitch + places[k]];
    if (is_whole) continue;
    const Point3 inside = point_of_block<rank>(lane + 32 * k);
    const auto pz = static_cast<int>(inside.z);
    const auto py = static_cast<int>(inside.y);
    const auto px = static_cast<int>(inside.x);
    exists[k] = pz < depth && py < height && px < width;
    if (!exists[k]) words[k] = 0;
    places[k] = (pz * height + py) * width + px;
  }
  const BlockSummary summary =
      summarise_block(words, exists, [&](std::uint32_t kind, std::uint32_t token) {
        atomicAdd(&counts[kind * token_places + token], 1U);
      });
  if (lane == 0) {
    task.blocks.points[block] = static_cast<std::uint8_t>(depth * height * width);
    task.blocks.classes[block] = static_cast<std::uint8_t>(summary.number);
    task.blocks.raw_bits[block] = summary.raw_bits;
    task.blocks.is_live[block] = summary.number != 0 ? 1 : 0;
  }
  if (summary.number == 0) return;
  Word* const to = task.blocks.words + block * word_block;
  CUSZI_UNROLL
  for (int k = 0; k < 2; ++k)
    if (exists[k]) to[places[k]] = words[k];
}

/// A thread block a tile at a time.
template <class Word, int rank, int reach>
__global__ void __launch_bounds__(WordsPolicy::threads, WordsPolicy::tile_blocks)
    predict_tiles(const __grid_constant__ PredictTask<Word> task) {
  using Shape = TileShape<rank>;
  constexpr unsigned places = word_classes * token_places;
  __shared__ SharedTile<Word, rank, reach> tile;
  __shared__ std::uint32_t counts[places];
  for (unsigned i = threadIdx.x; i < places; i += WordsPolicy::threads) counts[i] = 0;
  const int shift = task.map.shift();
  for (std::uint32_t number = blockIdx.x; number < task.tiles; number += gridDim.x) {
    const TileAt at = TileAt::of<Shape>(task, number);
    if (!at.has(at.z, at.y, at.x)) continue;
    __syncthreads();  // the tile before is done
    tile.load(task, at);
    __syncthreads();
    Word own[tile_words_of_thread];
    tile.take_differences(task.factors, own);
    __syncthreads();
    const auto first = SharedTile<Word, rank, reach>::Point::of_thread();
    CUSZI_UNROLL
    for (int k = 0; k < static_cast<int>(tile_words_of_thread); ++k)
      tile.by_blocks(first.after(k)) = shifted_right(own[k], shift);
    __syncthreads();
    for (int block = static_cast<int>(threadIdx.x / 32); block < tile.blocks;
         block += static_cast<int>(WordsPolicy::warps))
      finish_block(task, at, tile, block, counts);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < places; i += WordsPolicy::threads)
    if (counts[i] != 0) atomicAdd(&task.counts->tokens[i], counts[i]);
}

__global__ void __launch_bounds__(ItemPolicy::threads)
    count_classes(const std::uint8_t* classes, std::uint32_t blocks, DeviceCounts* counts) {
  constexpr unsigned places = word_classes * token_places;
  __shared__ std::uint32_t own[places];
  for (unsigned i = threadIdx.x; i < places; i += ItemPolicy::threads) own[i] = 0;
  __syncthreads();
  for (std::uint64_t i = ItemPolicy::first(); i < blocks; i += ItemPolicy::step()) {
    const std::uint32_t before = i % blocks_of_class_lane == 0 ? 0 : classes[i - 1];
    atomicAdd(&own[before * token_places + classes[i]], 1U);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < places; i += ItemPolicy::threads)
    if (own[i] != 0) atomicAdd(&counts->classes[i], own[i]);
}

__global__ void __launch_bounds__(ItemPolicy::threads)
    number_live_words(const std::uint32_t* is_live, const std::uint64_t* before,
                      std::uint32_t blocks, std::uint32_t* live) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < blocks && is_live[i] != 0) live[before[i]] = static_cast<std::uint32_t>(i);
}

__global__ void __launch_bounds__(ItemPolicy::threads)
    number_chunks(WordGrid grid, std::uint32_t count, WordChunk* chunks) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= count) return;
  const WordBox box = grid.chunk_at(i);
  const std::uint64_t first =
      (box.first[0] * grid.extents[1] + box.first[1]) * grid.extents[2] + box.first[2];
  chunks[i] = {first,
               grid.blocks_before(box),
               {static_cast<std::uint32_t>(box.size[0]), static_cast<std::uint32_t>(box.size[1]),
                static_cast<std::uint32_t>(box.size[2])}};
}

template <class Word, int rank, int reach>
void launch_prediction(DeviceContext& gpu, PredictTask<Word>& task) {
  using Shape = TileShape<rank>;
  constexpr int tile[] = {Shape::z, Shape::y, Shape::x};
  std::uint64_t tiles = task.grid.chunk_count;
  for (int axis = 0; axis < 3; ++axis) {
    task.tiles_along[axis] =
        ceil_div(task.grid.chunk[axis], static_cast<std::uint32_t>(tile[axis]));
    tiles *= task.tiles_along[axis];
  }
  task.tiles = grid_of(tiles);
  const unsigned most = WordsPolicy::tile_blocks * gpu.device().multiprocessors;
  predict_tiles<Word, rank, reach>
      <<<std::min(task.tiles, most), WordsPolicy::threads, 0, gpu.stream()>>>(task);
  check_launch("predict_tiles");
}

template <class Word, int rank>
void launch_prediction(DeviceContext& gpu, PredictTask<Word>& task, int reach) {
  if (reach < 2)
    launch_prediction<Word, rank, 1>(gpu, task);
  else
    launch_prediction<Word, rank, 2>(gpu, task);
}

}  // namespace

DeviceGrid take_grid(DeviceContext& gpu, const WordGrid& grid) {
  DeviceGrid there{};
  there.row = grid.extents[2];
  there.plane = grid.extents[1] * grid.extents[2];
  there.blocks = grid_of(grid.blocks());
  there.chunk_count = grid_of(grid.chunks());
  for (std::size_t axis = 0; axis < 3; ++axis)
    there.chunk[axis] = static_cast<std::uint32_t>(std::min(grid.chunk[axis], grid.extents[axis]));
  there.rank = rank_of(grid.extents);
  auto* const chunks = gpu.take<WordChunk>(there.chunk_count);
  launch_items(gpu, "number_chunks", there.chunk_count, number_chunks, grid, there.chunk_count,
               chunks);
  there.chunks = chunks;
  return there;
}

template <class Word>
void list_live_words(DeviceContext& gpu, const DeviceBlocks<Word>& blocks, std::uint32_t count) {
  exclusive_sums(gpu, blocks.is_live, count, blocks.live_before);
  launch_items(gpu, "number_live_words", count, number_live_words, blocks.is_live,
               blocks.live_before, count, blocks.live);
}

template <class Word>
void predict_words(DeviceContext& gpu, const Word* bits, const WordChoice<Word>& choice,
                   const DeviceGrid& grid, const DeviceBlocks<Word>& blocks, DeviceCounts* counts) {
  PredictTask<Word> task{};
  task.bits = bits;
  task.map = choice.map;
  int reach = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int order = choice.orders[axis];
    reach = std::max(reach, order);
    for (int distance = 0; distance <= most_order; ++distance)
      task.factors[axis][distance] = static_cast<Word>(difference_factor(order, distance));
  }
  task.grid = grid;
  task.blocks = blocks;
  task.counts = counts;
  if (grid.rank == 1)
    launch_prediction<Word, 1>(gpu, task, reach);
  else if (grid.rank == 2)
    launch_prediction<Word, 2>(gpu, task, reach);
  else
    launch_prediction<Word, 3>(gpu, task, reach);
  launch_in_turn(gpu, "count_classes", grid.blocks, 4, count_classes, blocks.classes, grid.blocks,
                 counts);
}

template void list_live_words(DeviceContext&, const DeviceBlocks<std::uint32_t>&, std::uint32_t);
template void list_live_words(DeviceContext&, const DeviceBlocks<std::uint64_t>&, std::uint32_t);
template void predict_words(DeviceContext&, const std::uint32_t*, const WordChoice<std::uint32_t>&,
                            const DeviceGrid&, const DeviceBlocks<std::uint32_t>&, DeviceCounts*);
template void predict_words(DeviceContext&, const std::uint64_t*, const WordChoice<std::uint64_t>&,
                            const DeviceGrid&, const DeviceBlocks<std::uint64_t>&, DeviceCounts*);

}  // namespace cuszi::gpu

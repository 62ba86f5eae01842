#include <cub/block/block_scan.cuh>

#include "gpu/cells/coding.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

/// The blocks of a pass, as bits.
__device__ std::uint64_t blocks_mask(int rank, int pass) {
  return ((std::uint64_t{1} << blocks_of_pass(rank, pass)) - 1) << first_block_of_pass(rank, pass);
}

constexpr unsigned list_tiles = 256;  ///< of a thread block, and its threads
constexpr unsigned list_warps = list_tiles / 32;
static_assert(list_warps > most_cell_passes, "a warp sums up the counts before a pass");

/// Bit i: whether byte i of four flags is set.
__device__ std::uint32_t bits_of_flags(std::uint32_t flags) {
  return (flags & 0x01010101U) * 0x01020408U >> 24;
}

/// Blocks of a tile, as bits.
struct TileBlocks {
  std::uint64_t live = 0;
  std::uint64_t sparse = 0;
  std::uint64_t odd = 0;    ///< those whose class is 1 or 3, of those up to 3
  std::uint64_t above = 0;  ///< those whose class is 2 or 3

  TileBlocks() = default;
  __device__ TileBlocks(const CellsChains& chains, std::uint32_t tile, const std::uint8_t* kinds) {
    static_assert(most_sparse_sum == 3, "two bits tell a sum");
    CUSZI_UNROLL
    for (unsigned i = 0; i < tile_blocks / 4; ++i) {
      const std::uint32_t four = __ldg(reinterpret_cast<const std::uint32_t*>(kinds) + i);
      const std::uint32_t is_live = __vcmpne4(four, 0);
      const std::uint32_t is_small = is_live & __vcmpleu4(four, most_sparse_sum * 0x01010101U);
      live |= std::uint64_t{bits_of_flags(is_live)} << 4 * i;
      sparse |= std::uint64_t{bits_of_flags(is_small)} << 4 * i;
      odd |= std::uint64_t{bits_of_flags(four)} << 4 * i;
      above |= std::uint64_t{bits_of_flags(four >> 1)} << 4 * i;
    }
    // Of a tile within the field, block 0 alone may not have all codes.
    const bool is_cut = chains.grid.cut_of_tile(tile) != 0;
    for (std::uint64_t left = is_cut ? sparse : sparse & 1; left != 0; left &= left - 1) {
      const auto block = static_cast<unsigned>(__ffsll(static_cast<long long>(left)) - 1);
      if (~chains.coded_of(tile * tile_blocks + block) != 0) sparse &= ~(std::uint64_t{1} << block);
    }
  }
  /// How many of a pass have tokens, and above 32 bits how many bits the lists of others have.
  __device__ std::uint64_t sums(int rank, int pass) const {
    const std::uint64_t mask = blocks_mask(rank, pass);
    const auto count = [&](std::uint64_t blocks) {
      return static_cast<std::uint32_t>(__popcll(blocks & mask));
    };
    const std::uint32_t units = count(sparse & odd) + 2 * count(sparse & above);
    return count(live & ~sparse) | std::uint64_t{bits_of_lists(count(sparse), units)} << 32;
  }
};

/// A sum over the lanes of a warp.
__device__ std::uint64_t sum_of_warp(std::uint64_t sum) {
  for (unsigned reach = 16; reach > 0; reach /= 2) sum += __shfl_xor_sync(~0U, sum, reach);
  return sum;
}

/// A thread a tile. Thread blocks sum up those of their tiles: [frame][pass][thread block].
__global__ void __launch_bounds__(list_tiles)
    count_live(const __grid_constant__ CellsChains chains, LiveBlocks live, std::uint64_t* sums) {
  __shared__ std::uint64_t of_warps[most_cell_passes][list_warps];
  const std::uint32_t tile = blockIdx.x * list_tiles + threadIdx.x;
  const std::uint64_t all = std::uint64_t{blockIdx.y} * chains.tiles;  // of frames before
  const auto passes = static_cast<unsigned>(chains.passes);
  TileBlocks blocks;
  if (tile < chains.tiles) {
    blocks = TileBlocks(chains, tile, chains.classes + (all + tile) * tile_blocks);
    live.masks[all + tile] = blocks.live;
    live.sparse[all + tile] = blocks.sparse;
  }
  for (unsigned pass = 0; pass < passes; ++pass) {
    const std::uint64_t own = blocks.sums(chains.rank, static_cast<int>(pass));
    if (tile < chains.tiles)
      live.lists_at[all * passes + std::uint64_t{pass} * chains.tiles + tile] = own;
    const std::uint64_t sum = sum_of_warp(own);
    if (threadIdx.x % 32 == 0) of_warps[pass][threadIdx.x / 32] = sum;
  }
  __syncthreads();
  const unsigned pass = threadIdx.x;
  if (pass >= passes) return;
  std::uint64_t sum = 0;
  for (const std::uint64_t of_warp : of_warps[pass]) sum += of_warp;
  sums[(std::uint64_t{blockIdx.y} * passes + pass) * gridDim.x + blockIdx.x] = sum;
}

/// A sum of numbers of 32 bits, which are `shift` bits above the lowest one, by a warp.
__device__ std::uint64_t sum_by_warp(const std::uint64_t* numbers, std::uint64_t count,
                                     unsigned shift) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = threadIdx.x % 32; i < count; i += 32) sum += numbers[i] >> shift & ~0U;
  return sum_of_warp(sum);
}

/// A thread block numbers the live blocks of its tiles, given the sums of all thread blocks, and
/// finds where the lists of tiles begin.
__global__ void __launch_bounds__(list_tiles)
    number_live(const __grid_constant__ CellsChains chains, LiveBlocks live,
                const std::uint64_t* sums) {
  using Scan = cub::BlockScan<std::uint64_t, list_tiles>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ std::uint32_t before[most_cell_passes][list_tiles];
  __shared__ std::uint32_t before_all[most_cell_passes + 1];
  __shared__ std::uint64_t bits_before[most_cell_passes];
  __shared__ std::uint64_t own[list_tiles];
  const int rank = chains.rank;
  const int passes = chains.passes;
  const std::uint32_t first_tile = blockIdx.x * list_tiles;
  const std::uint32_t tile = first_tile + threadIdx.x;
  const bool is_tile = tile < chains.tiles;
  const auto warp = static_cast<int>(threadIdx.x / 32);
  const std::uint64_t all = std::uint64_t{blockIdx.y} * chains.tiles;
  const std::uint64_t frame_passes = std::uint64_t{blockIdx.y} * static_cast<unsigned>(passes);
  std::uint64_t* const lists_at = live.lists_at + frame_passes * chains.tiles;
  std::uint32_t* const numbers = live.numbers + all * tile_blocks;
  sums += frame_passes * gridDim.x;
  if (warp <= passes) {
    const std::uint64_t of_pass = static_cast<unsigned>(warp) * std::uint64_t{gridDim.x};
    const std::uint64_t in_pass = warp < passes ? blockIdx.x : 0;
    const std::uint64_t sum = sum_by_warp(sums, of_pass + in_pass, 0);
    if (threadIdx.x % 32 == 0) before_all[warp] = static_cast<std::uint32_t>(sum);
  }
  if (warp < passes) {
    const std::uint64_t* const of_pass = sums + static_cast<unsigned>(warp) * gridDim.x;
    const std::uint64_t bits = sum_by_warp(of_pass, blockIdx.x, 32);
    if (threadIdx.x % 32 == 0) bits_before[warp] = bits;
    if (blockIdx.x == 0) {
      const std::uint64_t all_bits = sum_by_warp(of_pass, gridDim.x, 32);
      if (threadIdx.x % 32 == 0)
        live.list_bits[frame_passes + static_cast<unsigned>(warp)] = all_bits;
    }
  }
  own[threadIdx.x] = is_tile ? live.masks[all + tile] & ~live.sparse[all + tile] : 0;
  __syncthreads();
  for (int pass = 0; pass < passes; ++pass) {
    std::uint64_t* const at = lists_at + static_cast<unsigned>(pass) * chains.tiles + tile;
    std::uint64_t sum = 0;
    Scan(storage).ExclusiveSum(is_tile ? *at : 0, sum);
    before[pass][threadIdx.x] = static_cast<std::uint32_t>(sum);
    if (is_tile) *at = bits_before[pass] + (sum >> 32);
    __syncthreads();
  }
  if (blockIdx.x == 0 && threadIdx.x <= static_cast<unsigned>(passes))
    live.first[blockIdx.y * live_numbers_of_frame + threadIdx.x] = before_all[threadIdx.x];
  const unsigned block = threadIdx.x % tile_blocks;  // in every turn
  const int pass = pass_of_block(rank, block);
  if (pass >= passes) return;
  const std::uint64_t lower = blocks_mask(rank, pass) & ((std::uint64_t{1} << block) - 1);
  const unsigned in_field = min(list_tiles, chains.tiles - first_tile);
#pragma unroll 4
  for (unsigned i = threadIdx.x / tile_blocks; i < in_field; i += list_tiles / tile_blocks) {
    if ((own[i] >> block & 1) == 0) continue;
    const auto rank_in_tile = static_cast<unsigned>(__popcll(own[i] & lower));
    numbers[before_all[pass] + before[pass][i] + rank_in_tile] =
        (first_tile + i) * tile_blocks + block;
  }
}

/// The sub-boxes of all passes in a tile.
__device__ std::uint32_t boxes_of_tile(int rank) {
  return 1 + ((1U << rank * (cell_passes(rank) - 1)) - 1) /
                 static_cast<unsigned>(classes_of_level(rank));
}

/// A thread a box of blocks, in turn. Lanes count in tables of their own, so that few add to one
/// place at once.
__global__ void __launch_bounds__(CellsPolicy::count_threads)
    count_classes(int rank, std::uint32_t tiles, const std::uint8_t* classes,
                  SymbolCounts* counts) {
  constexpr unsigned copies = 4;
  __shared__ std::uint32_t own[copies][class_count][class_places + 1];
  for (unsigned i = threadIdx.x; i < sizeof own / 4; i += blockDim.x) (&own[0][0][0])[i] = 0;
  __syncthreads();
  classes += std::uint64_t{blockIdx.y} * tiles * tile_blocks;
  counts += blockIdx.y;
  const std::uint32_t boxes = boxes_of_tile(rank);
  const std::uint64_t all = std::uint64_t{tiles} * boxes;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint32_t dead = 0;  // those without codes after others, which most are
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < all; i += step) {
    const auto tile = static_cast<std::uint32_t>(i / boxes);
    auto box = static_cast<std::uint32_t>(i % boxes);
    int pass = 0;
    for (std::uint32_t in_pass = 1; box >= in_pass; ++pass) {
      box -= in_pass;
      in_pass = 1U << rank * pass;
    }
    const ClassBoxes of_pass(rank, pass);
    const LoadedBox loaded(of_pass, classes + std::uint64_t{tile} * tile_blocks, box);
    std::uint32_t last = 0;
    for (unsigned k = 0; k < of_pass.classes(); ++k) {
      const std::uint32_t context = context_in_box(k, last, loaded.parent(k));
      last = loaded.kind(k);
      if (context == 0 && last == 0) {
        ++dead;
      } else {
        atomicAdd(&own[threadIdx.x % copies][context][last], 1U);
      }
    }
  }
  atomicAdd(&own[0][0][0], dead);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < class_count * class_places; i += blockDim.x) {
    std::uint32_t count = 0;
    for (unsigned copy = 0; copy < copies; ++copy)
      count += own[copy][i / class_places][i % class_places];
    if (count != 0) atomicAdd(&counts->classes[i / class_places][i % class_places], count);
  }
}

/// How often the codes of a block have each of the magnitudes of small tokens.
class MagnitudeCounts {
 public:
  static constexpr unsigned magnitudes = 16;

  __device__ void add(const uint4& eight_codes) {
    const std::uint32_t pairs[] = {eight_codes.x, eight_codes.y, eight_codes.z, eight_codes.w};
    std::uint32_t low = 0;  // 4 bits a magnitude
    std::uint32_t high = 0;
    std::uint32_t others = 0;  // bit i: code i has a larger magnitude
    CUSZI_UNROLL
    for (unsigned i = 0; i < 8; ++i) {
      const int code = static_cast<std::int16_t>(pairs[i / 2] >> (i % 2 * 16));
      const auto magnitude = static_cast<unsigned>(abs(code));
      low += __funnelshift_lc(0, 1, 4 * magnitude);  // 0 from 32 on
      high += __funnelshift_lc(0, 1, 4 * magnitude - 32);
      if (magnitude >= magnitudes) others |= 1U << i;
    }
    others_ = others_ >> 8 | std::uint64_t{others} << (cell_block_codes - 8);
    constexpr std::uint32_t even = 0x0F0F0F0F;
    counts_[0] += low & even;
    counts_[1] += low >> 4 & even;
    counts_[2] += high & even;
    counts_[3] += high >> 4 & even;
  }
  __device__ std::uint32_t operator[](unsigned magnitude) const {
    return counts_[magnitude / 8 * 2 + magnitude % 2] >> (magnitude % 8 / 2 * 8) & 0xFFU;
  }
  /// Which codes of a whole block have larger ones, as bits.
  __device__ std::uint64_t others() const { return others_; }

 private:
  std::uint32_t counts_[4] = {};  ///< bytes: of 0, 2, 4, 6; 1, 3, 5, 7; 8, ...; 9, ...
  std::uint64_t others_ = 0;
};

/// A thread a block that has codes, in turn. Tokens of two signs count as that of the positive
/// code: tables do not tell them apart. Lanes count in tables of their own, so that few add to one
/// place at once.
template <class Frames>
__global__ void __launch_bounds__(CellsPolicy::count_threads)
    count_tokens(const __grid_constant__ Frames frames, SymbolCounts* counts) {
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  unsigned unused;
  const CellsChains& chains = frames.find(shared, unused).chains;
  counts += blockIdx.y;
  constexpr unsigned copies = 8;
  constexpr unsigned magnitudes = MagnitudeCounts::magnitudes;
  __shared__ std::uint32_t small[copies][class_count][magnitudes + 1];
  __shared__ std::uint32_t large[class_count][token_places - small_tokens];
  for (unsigned i = threadIdx.x; i < sizeof small / 4; i += blockDim.x) (&small[0][0][0])[i] = 0;
  for (unsigned i = threadIdx.x; i < sizeof large / 4; i += blockDim.x) (&large[0][0])[i] = 0;
  __syncthreads();
  const std::uint32_t end = chains.first_live[chains.passes];
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < end;
       i += gridDim.x * blockDim.x) {
    const std::uint32_t block = chains.live[i];
    const std::uint32_t kind = chains.classes[block];
    const std::int16_t* const codes = chains.codes + std::uint64_t{block} * cell_block_codes;
    MagnitudeCounts found;
#pragma unroll 8  // all are loaded at once, so that no sector is loaded twice
    for (int k = 0; k < cell_block_codes; k += 8)
      found.add(*reinterpret_cast<const uint4*>(codes + k));
    // Codes that are not coded are 0.
    const auto without_code =
        static_cast<unsigned>(cell_block_codes - __popcll(chains.coded_of(block)));
    std::uint32_t* const own = small[threadIdx.x % copies][kind];
    CUSZI_UNROLL
    for (unsigned magnitude = 0; magnitude < magnitudes; ++magnitude) {
      const std::uint32_t count = found[magnitude] - (magnitude == 0 ? without_code : 0);
      if (count != 0) atomicAdd(own + magnitude, count);
    }
    for (std::uint64_t others = found.others(); others != 0; others &= others - 1) {
      const int code = codes[__ffsll(static_cast<long long>(others)) - 1];
      atomicAdd(&large[kind][token_of_code(code).token - small_tokens], 1U);
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < class_count * magnitudes; i += blockDim.x) {
    const unsigned kind = i / magnitudes;
    const unsigned magnitude = i % magnitudes;
    std::uint32_t count = 0;
    for (unsigned copy = 0; copy < copies; ++copy) count += small[copy][kind][magnitude];
    const std::uint32_t token = small_token_of(static_cast<int>(magnitude));
    if (count != 0) atomicAdd(&counts->tokens[kind][token], count);
  }
  for (unsigned i = threadIdx.x; i < class_count * (cell_tokens - small_tokens); i += blockDim.x) {
    const unsigned kind = i / (cell_tokens - small_tokens);
    const unsigned token = i % (cell_tokens - small_tokens);
    const std::uint32_t count = large[kind][token];
    if (count != 0) atomicAdd(&counts->tokens[kind][small_tokens + token], count);
  }
}

constexpr unsigned mark_threads = 256;

/// A thread block for the tiles that stick out of the field along the same axes.
template <class Shape>
__global__ void __launch_bounds__(mark_threads) mark_coded(CellGrid grid, CodedPoints* coded) {
  __shared__ std::uint32_t words[cell_codes / 32];
  for (unsigned i = threadIdx.x; i < cell_codes / 32; i += mark_threads) words[i] = 0;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < cell_codes; i += mark_threads) {
    const int x = i % Shape::extent(2);
    const int y = i / Shape::extent(2) % Shape::extent(1);
    const int z = i / Shape::extent(2) / Shape::extent(1);
    if (!CodedPoints::has<Shape>(grid, blockIdx.x, z, y, x)) continue;
    const int position = Shape::position_of_point(z, y, x);
    atomicOr(&words[position / 32], 1U << position % 32);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < tile_blocks; i += mark_threads)
    coded->of[blockIdx.x][i] = words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32;
}

}  // namespace

LiveBlocks take_live_blocks(DeviceContext& gpu, unsigned frames, CellsChains& chains) {
  const std::uint64_t tiles = std::uint64_t{frames} * chains.tiles;
  const std::uint64_t passes = std::uint64_t{frames} * static_cast<unsigned>(chains.passes);
  const LiveBlocks live{gpu.take<std::uint64_t>(tiles),
                        gpu.take<std::uint64_t>(tiles),
                        gpu.take<std::uint32_t>(tiles * tile_blocks),
                        gpu.take<std::uint32_t>(std::uint64_t{frames} * live_numbers_of_frame),
                        gpu.take<std::uint64_t>(passes * chains.tiles),
                        gpu.take<std::uint64_t>(passes)};
  chains.live = live.numbers;
  chains.first_live = live.first;
  chains.sparse = live.sparse;
  chains.lists_at = live.lists_at;
  chains.list_bits = live.list_bits;
  return live;
}

void select_live_blocks(CellsChains& chains, unsigned frame) {
  const std::uint64_t tiles = std::uint64_t{frame} * chains.tiles;
  const std::uint64_t passes = std::uint64_t{frame} * static_cast<unsigned>(chains.passes);
  chains.live += tiles * tile_blocks;
  chains.first_live += std::uint64_t{frame} * live_numbers_of_frame;
  chains.sparse += tiles;
  chains.lists_at += passes * chains.tiles;
  chains.list_bits += passes;
}

void list_live_blocks(DeviceContext& gpu, unsigned frames, const CellsChains& chains,
                      const LiveBlocks& live) {
  const dim3 blocks(blocks_for(chains.tiles, list_tiles), frames);
  auto* const sums = gpu.take<std::uint64_t>(std::uint64_t{frames} * blocks.x *
                                             static_cast<unsigned>(chains.passes));
  count_live<<<blocks, list_tiles, 0, gpu.stream()>>>(chains, live, sums);
  check_launch("count_live");
  number_live<<<blocks, list_tiles, 0, gpu.stream()>>>(chains, live, sums);
  check_launch("number_live");
}

void find_coded_points(DeviceContext& gpu, const CellGrid& grid, int rank, CodedPoints* coded) {
  with_cell_rank(rank, [&](auto shape) {
    mark_coded<decltype(shape)><<<8, mark_threads, 0, gpu.stream()>>>(grid, coded);
  });
  check_launch("mark_coded");
}

namespace {

/// Thread blocks that take the blocks of codes of so many frames in turn.
dim3 counting_blocks(DeviceContext& gpu, const ChainEncodeTasks& frames) {
  const std::uint64_t blocks = std::uint64_t{frames.list().front().chains.tiles} * tile_blocks;
  const std::uint64_t most =
      std::uint64_t{CellsPolicy::count_blocks} * gpu.device().multiprocessors / frames.count();
  const std::uint64_t wanted = ceil_div(blocks, CellsPolicy::count_threads);
  return {grid_of(std::min(wanted, std::max<std::uint64_t>(most, 1))), frames.count()};
}

}  // namespace

void count_cell_classes(DeviceContext& gpu, const ChainEncodeTasks& frames, SymbolCounts* counts) {
  const CellsChains& first = frames.list().front().chains;
  count_classes<<<counting_blocks(gpu, frames), CellsPolicy::count_threads, 0, gpu.stream()>>>(
      first.rank, first.tiles, first.classes, counts);
  check_launch("count_classes");
}

void count_cell_tokens(DeviceContext& gpu, const ChainEncodeTasks& frames, SymbolCounts* counts) {
  frames.visit([&]<class Frames>(const Frames& tasks) {
    count_tokens<Frames>
        <<<counting_blocks(gpu, frames), CellsPolicy::count_threads, 0, gpu.stream()>>>(tasks,
                                                                                        counts);
  });
  check_launch("count_tokens");
}

}  // namespace cuszi::gpu

#include "gpu/cells/coding.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

__device__ int pass_of_block(int rank, std::uint32_t block) {
  return block == 0 ? 0 : (31 - __clz(static_cast<int>(block))) / rank + 1;
}
/// The blocks of a pass, as bits.
__device__ std::uint64_t blocks_mask(int rank, int pass) {
  return ((std::uint64_t{1} << blocks_of_pass(rank, pass)) - 1) << first_block_of_pass(rank, pass);
}

/// A warp a tile.
__global__ void __launch_bounds__(ItemPolicy::threads)
    find_live(int rank, int passes, std::uint32_t tiles, const std::uint8_t* classes,
              std::uint64_t* masks, std::uint32_t* counts) {
  const auto tile = static_cast<std::uint32_t>(ItemPolicy::first() / 32);
  if (tile >= tiles) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint8_t* const row = classes + std::uint64_t{tile} * tile_blocks;
  const std::uint64_t low = __ballot_sync(~0U, row[lane] != 0);
  const std::uint64_t high = __ballot_sync(~0U, row[lane + 32] != 0);
  const std::uint64_t mask = low | high << 32;
  if (lane == 0) masks[tile] = mask;
  if (lane < static_cast<unsigned>(passes)) {
    const int pass = static_cast<int>(lane);
    counts[std::uint64_t{lane} * tiles + tile] =
        static_cast<std::uint32_t>(__popcll(mask & blocks_mask(rank, pass)));
  }
}

/// A warp a tile.
__global__ void __launch_bounds__(ItemPolicy::threads)
    number_live(int rank, int passes, std::uint32_t tiles, const std::uint64_t* masks,
                const std::uint64_t* before, std::uint32_t* numbers) {
  const auto tile = static_cast<std::uint32_t>(ItemPolicy::first() / 32);
  if (tile >= tiles) return;
  const std::uint64_t mask = masks[tile];
  for (unsigned block = threadIdx.x % 32; block < tile_blocks; block += 32) {
    const int pass = pass_of_block(rank, block);
    if ((mask >> block & 1) == 0 || pass >= passes) continue;
    const std::uint64_t lower = mask & blocks_mask(rank, pass) & ((std::uint64_t{1} << block) - 1);
    const std::uint64_t rank_of_block = before[static_cast<std::uint64_t>(pass) * tiles + tile] +
                                        static_cast<unsigned>(__popcll(lower));
    numbers[rank_of_block] = tile * tile_blocks + block;
  }
}

/// A thread a block of codes, in turn.
__global__ void __launch_bounds__(CellsPolicy::count_threads)
    count_classes(int rank, std::uint32_t tiles, const std::uint8_t* classes,
                  SymbolCounts* counts) {
  __shared__ std::uint32_t own[class_count][class_places];
  __shared__ SharedParents parents;
  parents.fill(rank);
  for (unsigned i = threadIdx.x; i < class_count * class_places; i += blockDim.x)
    own[i / class_places][i % class_places] = 0;
  __syncthreads();
  const std::uint64_t blocks = std::uint64_t{tiles} * tile_blocks;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint32_t dead = 0;  // those without codes after others, which most are
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < blocks;
       i += step) {
    const auto tile = static_cast<std::uint32_t>(i / tile_blocks);
    const auto block = static_cast<std::uint32_t>(i % tile_blocks);
    const std::uint8_t* const row = classes + std::uint64_t{tile} * tile_blocks;
    const bool begins = tile % run_of_classes(rank, 0, tiles) == 0;
    const std::uint32_t context = parents.context(row, block, begins);
    const std::uint32_t kind = row[block];
    if (context == 0 && kind == 0) {
      ++dead;
    } else {
      atomicAdd(&own[context][kind], 1U);
    }
  }
  atomicAdd(&own[0][0], dead);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < class_count * class_places; i += blockDim.x) {
    const std::uint32_t count = own[i / class_places][i % class_places];
    if (count != 0) atomicAdd(&counts->classes[i / class_places][i % class_places], count);
  }
}

/// Eight codes of a block, as a thread counts them.
struct EightCodes {
  static constexpr unsigned parts = 8;  ///< of a block

  std::uint32_t kind = 0;  ///< class of the block; none of class 0 are counted
  uint4 codes{};
  unsigned coded = 0;  ///< a bit a code

  __device__ void load(const CellsChains& chains, std::uint64_t block, unsigned part) {
    if (kind == 0) return;
    codes = reinterpret_cast<const uint4*>(chains.codes)[block * parts + part];
    coded =
        static_cast<unsigned>(chains.coded_of(static_cast<std::uint32_t>(block)) >> (8 * part)) &
        0xFFU;
  }
  /// Counts small tokens in `small`, others in `large`.
  __device__ void count(std::uint32_t* small, std::uint32_t* large) const {
    const std::uint32_t pairs[4] = {codes.x, codes.y, codes.z, codes.w};
    // Codes that are not coded are 0.
    std::uint32_t zeros = static_cast<unsigned>(__popc(coded)) - 8;
    CUSZI_UNROLL
    for (const std::uint32_t pair : pairs) {
      CUSZI_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        const int code = static_cast<std::int16_t>(pair >> (16 * half));
        const std::uint32_t token = small_token_of(code);
        if (code == 0) {
          ++zeros;
        } else if (token < small_tokens) {
          atomicAdd(small + token, 1U);
        } else {
          atomicAdd(large + token_of_code(code).token - small_tokens, 1U);
        }
      }
    }
    if (zeros != 0) atomicAdd(small, zeros);
  }
};

/// Eight threads a block of codes. Those of a block count in tables of their own, so that few add
/// to one place at once. Classes are loaded two blocks ahead, codes one.
__global__ void __launch_bounds__(CellsPolicy::count_threads)
    count_tokens(const __grid_constant__ CellsChains chains, SymbolCounts* counts) {
  constexpr unsigned parts = EightCodes::parts;
  constexpr unsigned places = 32;  // of small tokens
  __shared__ std::uint32_t small[parts][class_count * places + 1];
  __shared__ std::uint32_t large[class_count][token_places - small_tokens];
  for (unsigned i = threadIdx.x; i < parts * (class_count * places + 1); i += blockDim.x)
    (&small[0][0])[i] = 0;
  for (unsigned i = threadIdx.x; i < sizeof large / sizeof large[0][0]; i += blockDim.x)
    (&large[0][0])[i] = 0;
  __syncthreads();
  const unsigned part = threadIdx.x % parts;
  const std::uint64_t blocks = std::uint64_t{chains.tiles} * tile_blocks;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x / parts;
  const auto kind_of = [&](std::uint64_t block) {
    return block < blocks ? std::uint32_t{chains.classes[block]} : 0U;
  };
  std::uint64_t block = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / parts;
  EightCodes now{kind_of(block)};
  now.load(chains, block, part);
  EightCodes next{kind_of(block + step)};
  CUSZI_NO_UNROLL
  for (; block < blocks; block += step) {
    next.load(chains, block + step, part);
    const EightCodes after{kind_of(block + 2 * step)};
    if (now.kind != 0) now.count(small[part] + now.kind * places, large[now.kind]);
    now = next;
    next = after;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < class_count * places; i += blockDim.x) {
    std::uint32_t count = 0;
    for (unsigned p = 0; p < parts; ++p) count += small[p][i];
    if (count != 0) atomicAdd(&counts->tokens[i / places][i % places], count);
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

LiveBlocks list_live_blocks(DeviceContext& gpu, int rank, int passes, std::uint32_t tiles,
                            const std::uint8_t* classes) {
  const std::uint64_t counted = std::uint64_t{tiles} * static_cast<unsigned>(passes);
  auto* const counts = gpu.take<std::uint32_t>(counted);
  const LiveBlocks live{gpu.take<std::uint64_t>(tiles),
                        gpu.take<std::uint32_t>(std::uint64_t{tiles} * tile_blocks),
                        gpu.take<std::uint64_t>(counted + 1)};
  launch_items(gpu, "find_live", std::uint64_t{tiles} * 32, find_live, rank, passes, tiles, classes,
               live.masks, counts);
  exclusive_sums(gpu, counts, counted, live.before);
  launch_items(gpu, "number_live", std::uint64_t{tiles} * 32, number_live, rank, passes, tiles,
               live.masks, live.before, live.numbers);
  return live;
}

const CodedPoints* find_coded_points(DeviceContext& gpu, const CellGrid& grid, int rank) {
  auto* const coded = gpu.take<CodedPoints>(1);
  with_cell_rank(rank, [&](auto shape) {
    mark_coded<decltype(shape)><<<8, mark_threads, 0, gpu.stream()>>>(grid, coded);
  });
  check_launch("mark_coded");
  return coded;
}

SymbolCounts* count_symbols_of_cells(DeviceContext& gpu, const CellsChains& chains) {
  auto* const counts = gpu.take_zeroed<SymbolCounts>(1);
  const std::uint64_t blocks = std::uint64_t{chains.tiles} * tile_blocks;
  const std::uint64_t most =
      std::uint64_t{CellsPolicy::count_blocks} * gpu.device().multiprocessors;
  const auto launched = [&](std::uint64_t threads) {
    return grid_of(std::min(ceil_div(threads, CellsPolicy::count_threads), most));
  };
  count_classes<<<launched(blocks), CellsPolicy::count_threads, 0, gpu.stream()>>>(
      chains.rank, chains.tiles, chains.classes, counts);
  check_launch("count_classes");
  count_tokens<<<launched(blocks * 8), CellsPolicy::count_threads, 0, gpu.stream()>>>(chains,
                                                                                      counts);
  check_launch("count_tokens");
  return counts;
}

}  // namespace cuszi::gpu

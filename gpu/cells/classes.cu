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
  const std::uint64_t all = std::uint64_t{blockIdx.y} * tiles;  // of frames before
  const std::uint8_t* const row = classes + (all + tile) * tile_blocks;
  const std::uint64_t low = __ballot_sync(~0U, row[lane] != 0);
  const std::uint64_t high = __ballot_sync(~0U, row[lane + 32] != 0);
  const std::uint64_t mask = low | high << 32;
  if (lane == 0) masks[all + tile] = mask;
  if (lane < static_cast<unsigned>(passes)) {
    const int pass = static_cast<int>(lane);
    counts[all * static_cast<unsigned>(passes) + std::uint64_t{lane} * tiles + tile] =
        static_cast<std::uint32_t>(__popcll(mask & blocks_mask(rank, pass)));
  }
}

/// A warp a tile.
__global__ void __launch_bounds__(ItemPolicy::threads)
    number_live(int rank, int passes, std::uint32_t tiles, const std::uint64_t* masks,
                const std::uint64_t* before, std::uint32_t* numbers) {
  const auto tile = static_cast<std::uint32_t>(ItemPolicy::first() / 32);
  if (tile >= tiles) return;
  const std::uint64_t all = std::uint64_t{blockIdx.y} * tiles;  // of frames before
  const std::uint64_t mask = masks[all + tile];
  before += all * static_cast<unsigned>(passes);
  for (unsigned block = threadIdx.x % 32; block < tile_blocks; block += 32) {
    const int pass = pass_of_block(rank, block);
    if ((mask >> block & 1) == 0 || pass >= passes) continue;
    const std::uint64_t lower = mask & blocks_mask(rank, pass) & ((std::uint64_t{1} << block) - 1);
    const std::uint64_t rank_of_block = before[static_cast<std::uint64_t>(pass) * tiles + tile] +
                                        static_cast<unsigned>(__popcll(lower));
    numbers[rank_of_block] = tile * tile_blocks + block;
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
    const bool begins = tile % run_of_classes(rank, 0) == 0;
    const LoadedBox loaded(of_pass, classes + std::uint64_t{tile} * tile_blocks, begins, box);
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
    CUSZI_UNROLL
    for (unsigned i = 0; i < 8; ++i) {
      const int code = static_cast<std::int16_t>(pairs[i / 2] >> (i % 2 * 16));
      const unsigned shift = 4 * static_cast<unsigned>(abs(code));
      low += __funnelshift_lc(0, 1, shift);  // 0 from 32 on
      high += __funnelshift_lc(0, 1, shift - 32);
      shifts_ |= shift;
    }
    constexpr std::uint32_t even = 0x0F0F0F0F;
    counts_[0] += low & even;
    counts_[1] += low >> 4 & even;
    counts_[2] += high & even;
    counts_[3] += high >> 4 & even;
  }
  __device__ std::uint32_t operator[](unsigned magnitude) const {
    return counts_[magnitude / 8 * 2 + magnitude % 2] >> (magnitude % 8 / 2 * 8) & 0xFFU;
  }
  /// Whether there was a larger one.
  __device__ bool has_others() const { return shifts_ >= 4 * magnitudes; }

 private:
  std::uint32_t counts_[4] = {};  ///< bytes: of 0, 2, 4, 6; 1, 3, 5, 7; 8, ...; 9, ...
  std::uint32_t shifts_ = 0;
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
  const std::uint64_t end = chains.first_live(chains.passes);
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i =
           chains.first_live(0) + std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       i < end; i += step) {
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
    if (!found.has_others()) continue;
    for (int k = 0; k < cell_block_codes; ++k) {
      const std::uint32_t token = token_of_code(codes[k]).token;
      if (token >= small_tokens) atomicAdd(&large[kind][token - small_tokens], 1U);
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

LiveBlocks take_live_blocks(DeviceContext& gpu, int passes, std::uint32_t tiles, unsigned frames) {
  const std::uint64_t all = std::uint64_t{frames} * tiles;
  return {gpu.take<std::uint64_t>(all), gpu.take<std::uint32_t>(all * tile_blocks),
          gpu.take<std::uint64_t>(all * static_cast<unsigned>(passes) + 1)};
}

void list_live_blocks(DeviceContext& gpu, int rank, int passes, std::uint32_t tiles,
                      unsigned frames, const std::uint8_t* classes, const LiveBlocks& live) {
  const std::uint64_t counted = std::uint64_t{frames} * tiles * static_cast<unsigned>(passes);
  auto* const counts = gpu.take<std::uint32_t>(counted);
  launch_items_of(gpu, "find_live", frames, std::uint64_t{tiles} * 32, find_live, rank, passes,
                  tiles, classes, live.masks, counts);
  exclusive_sums(gpu, counts, counted, live.before);
  launch_items_of(gpu, "number_live", frames, std::uint64_t{tiles} * 32, number_live, rank, passes,
                  tiles, live.masks, live.before, live.numbers);
}

const CodedPoints* find_coded_points(DeviceContext& gpu, const CellGrid& grid, int rank) {
  auto* const coded = gpu.take<CodedPoints>(1);
  with_cell_rank(rank, [&](auto shape) {
    mark_coded<decltype(shape)><<<8, mark_threads, 0, gpu.stream()>>>(grid, coded);
  });
  check_launch("mark_coded");
  return coded;
}

SymbolCounts* count_symbols_of_cells(DeviceContext& gpu, const ChainEncodeTasks& frames) {
  auto* const counts = gpu.take_zeroed<SymbolCounts>(frames.count());
  const CellsChains& first = frames.list().front().chains;
  const std::uint64_t blocks = std::uint64_t{first.tiles} * tile_blocks;
  const std::uint64_t most =
      std::uint64_t{CellsPolicy::count_blocks} * gpu.device().multiprocessors / frames.count();
  const std::uint64_t wanted = ceil_div(blocks, CellsPolicy::count_threads);
  const dim3 launched(grid_of(std::min(wanted, std::max<std::uint64_t>(most, 1))), frames.count());
  gpu.streams().fork([&] {
    count_classes<<<launched, CellsPolicy::count_threads, 0, gpu.stream()>>>(
        first.rank, first.tiles, first.classes, counts);
    check_launch("count_classes");
  });
  frames.visit([&]<class Frames>(const Frames& tasks) {
    count_tokens<Frames><<<launched, CellsPolicy::count_threads, 0, gpu.stream()>>>(tasks, counts);
  });
  check_launch("count_tokens");
  gpu.streams().join();
  return counts;
}

}  // namespace cuszi::gpu

#include "core/signs/signs.hpp"
#include "gpu/coders/symbol_lanes.cuh"
#include "gpu/coders/symbol_tables.cuh"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/signs/signs.cuh"

namespace cuszi::gpu {

namespace {

/// Tables as decoders take them.
struct SignSlots {
  std::uint8_t symbols[sign_tables * table_probability_one];  ///< [table][slot]
  SlotShare shares[sign_places];
};
static_assert(sizeof(SignSlots) % 4 == 0);

struct SignChainsTask {
  SignGrid grid;
  bool first_sign;
  const SignSlots* slots;
  const std::byte* chains;
  ByteCount chain_bytes;
  const std::uint32_t* sizes;    ///< of segments
  const std::uint64_t* offsets;  ///< sums of sizes
  std::uint32_t segments;
  std::uint64_t* tiles;
  std::uint32_t* flaws;
};

/// A thread block a table.
__global__ void __launch_bounds__(SignsPolicy::fill_threads)
    fill_sign_slots(const SignTables* tables, SignSlots* slots) {
  __shared__ std::uint32_t first[token_places + 1];
  const unsigned number = blockIdx.x;
  const std::uint16_t* const frequencies = tables->of[number].frequencies;
  if (threadIdx.x < 32) sum_frequencies(frequencies, first);
  __syncthreads();
  if (threadIdx.x < sign_symbols)
    slots->shares[place_of_symbol(number, threadIdx.x)] =
        SlotShare::of({frequencies[threadIdx.x], first[threadIdx.x]}, 0);
  fill_slots(first, slots->symbols + number * table_probability_one);
}

/// The bytes of a segment, and which of its lanes have a state.
struct SignSegment {
  const std::byte* begin;
  std::uint32_t words;  ///< of 32 bits
  unsigned present = 0;
  bool is_good;

  /// By a warp; `has_tiles` of each lane.
  __device__ SignSegment(const SignChainsTask& task, std::uint32_t number, bool has_tiles)
      : begin(task.chains + task.offsets[number]), words(task.sizes[number] / 4) {
    const bool fits =
        task.offsets[task.segments] == task.chain_bytes && task.sizes[number] % 4 == 0;
    if (fits && words != 0) present = UnalignedWords(begin, words)[0];
    const bool is_empty = words == 0;
    const bool has_lane = (present >> threadIdx.x % 32 & 1) != 0;
    is_good = fits && is_empty == (present == 0) && __all_sync(~0U, has_tiles || !has_lane);
  }
};

/// Decodes a segment, by a warp. Returns whether it is as it should be.
__device__ bool decode_sign_segment(const SignChainsTask& task, const SignSlots& slots,
                                    std::uint32_t number, std::uint32_t* ring_memory) {
  const unsigned lane = threadIdx.x % 32;
  const SignRun run(task.grid, std::uint64_t{number} * 32 + lane, task.first_sign);
  const SignSegment segment(task, number, run.count != 0);
  if (!segment.is_good) return false;
  const auto store = [&](std::uint64_t place, std::uint64_t tile) { task.tiles[place] = tile; };
  bool on = (segment.present >> lane & 1) != 0;
  if (!on) store_idle(task.grid, run, store);
  if (segment.present == 0) return true;
  const auto before = static_cast<std::uint32_t>(__popc(segment.present & ((1U << lane) - 1)));
  const auto lanes = static_cast<std::uint32_t>(__popc(segment.present));
  const LaneStates states(segment.begin + 4, segment.words - 1, on, before, lanes);
  if (!states.is_good) return false;
  const UnalignedWords words(segment.begin, segment.words);
  const std::uint32_t head = 1 + states.words;
  RingOfWords ring(words, head, ring_memory);
  std::uint32_t state = states.own;
  SignsForwards signs(task.grid, run);
  CUSZI_NO_UNROLL
  for (unsigned step = 0; __any_sync(~0U, on); ++step) {
    if (step % RingOfWords::steps_of_top_up == 0) ring.top_up();
    const std::uint32_t table = on ? signs.table() : 0;
    const std::uint32_t symbol =
        slots.symbols[table * table_probability_one + state % table_probability_one];
    if (on) {
      state = without_symbol(state, slots.shares[place_of_symbol(table, symbol)].share());
      signs.take(symbol, store);
    }
    ring.refill(state);
    on = on && !signs.is_done();
  }
  return ring.ends_well(state, head);
}

/// A warp a segment.
__global__ void __launch_bounds__(32 * SignsPolicy::decode_warps)
    decode_sign_segments(const __grid_constant__ SignChainsTask task) {
  __shared__ SignSlots slots;
  __shared__ std::uint32_t rings[SignsPolicy::decode_warps][RingOfWords::size / 2];
  const auto* const from = reinterpret_cast<const std::uint32_t*>(task.slots);
  for (unsigned i = threadIdx.x; i < sizeof slots / 4; i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(&slots)[i] = from[i];
  __syncthreads();
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t number = warp * gridDim.x + blockIdx.x;
  if (number >= task.segments) return;
  if (!decode_sign_segment(task, slots, number, rings[warp]) && threadIdx.x % 32 == 0)
    atomicOr(task.flaws, bad_ans_segment);
}

__global__ void __launch_bounds__(ItemPolicy::threads)
    scatter_tiles(SignGrid grid, const std::uint64_t* tiles, std::uint64_t words,
                  std::uint64_t* signs) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < words) signs[i] = signs_of_tiles(grid, tiles, i);
}

/// Starts to decode the segments of a section.
void start_segments(DeviceContext& gpu, const SignSection& section, const SignGrid& grid,
                    std::uint64_t* tiles) {
  SignChainsTask task{};
  task.segments = grid_of(segments_of_signs(grid.tiles()));
  auto* const sizes = gpu.take<std::uint32_t>(task.segments);
  auto* const offsets = gpu.take<std::uint64_t>(std::uint64_t{task.segments} + 1);
  start_copy(gpu, reinterpret_cast<std::byte*>(sizes), section.sizes.data(), section.sizes.size());
  exclusive_sums(gpu, sizes, task.segments, offsets);
  auto* const slots = gpu.take<SignSlots>(1);
  fill_sign_slots<<<sign_tables, SignsPolicy::fill_threads, 0, gpu.stream()>>>(
      upload(gpu, &section.head.tables, 1), slots);
  check_launch("fill_sign_slots");
  task.grid = grid;
  task.first_sign = section.head.first_sign;
  task.slots = slots;
  task.chains = section.segments.data();
  task.chain_bytes = section.segments.size();
  task.sizes = sizes;
  task.offsets = offsets;
  task.tiles = tiles;
  task.flaws = gpu.flaws();
  decode_sign_segments<<<blocks_for(task.segments, SignsPolicy::decode_warps),
                         32 * SignsPolicy::decode_warps, 0, gpu.stream()>>>(task);
  check_launch("decode_sign_segments");
}

}  // namespace

const std::uint64_t* decode_signs(DeviceContext& gpu, Bytes section, Bytes begin,
                                  const Dims& dims) {
  const SignGrid grid = SignGrid::of(dims);
  const SignSection read = SignSection::read(section, begin, grid);
  const std::uint64_t words = ceil_div(grid.points(), 64);
  auto* const signs = gpu.take<std::uint64_t>(words);
  if (read.head.is_raw) {
    check(cudaMemsetAsync(signs + words - 1, 0, sizeof *signs, gpu.stream()), "clear memory");
    start_copy(gpu, reinterpret_cast<std::byte*>(signs), read.bits.data(), read.bits.size());
    return signs;
  }
  auto* const tiles = gpu.take<std::uint64_t>(grid.tiles());
  start_segments(gpu, read, grid, tiles);
  launch_items(gpu, "scatter_tiles", words, scatter_tiles, grid, tiles, words, signs);
  return signs;
}

}  // namespace cuszi::gpu

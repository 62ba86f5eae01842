#include "core/signs/signs.hpp"
#include "gpu/coders/symbol_lanes.cuh"
#include "gpu/coders/symbol_tables.cuh"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/signs/signs.cuh"

namespace cuszi::gpu {

namespace {

/// At most. No symbol adds a bit more to a state than the bits of a slot.
CUSZI_HD inline std::uint64_t segment_words(const SignGrid& grid) {
  const std::uint64_t symbols = most_symbols_of_lane(grid.tiles());
  return most_lanes * (symbols * (table_probability_bits + 1) / 16 + 2);
}

/// Symbols of a lane that are loaded at once.
struct alignas(16) LoadedSymbols {
  static constexpr std::uint32_t count = 8;
  std::uint16_t places[count];
};
/// How many a lane takes at most.
CUSZI_HD inline std::uint64_t loads_of_lane(const SignGrid& grid) {
  return ceil_div(most_symbols_of_lane(grid.tiles()), LoadedSymbols::count);
}

struct SignsTask {
  SignGrid grid;
  const std::uint64_t* signs;
  std::uint64_t* tiles;
  LoadedSymbols* symbols;        ///< loads_of_lane of each lane, as places
  std::uint32_t* symbol_counts;  ///< of lanes; 0 of those without a state
  std::uint32_t* counts;         ///< by place
  const SignTables* defaults;
  SignTables* tables;
  PackedSymbolShare* shares;      ///< by place
  Cost* cost;                     ///< of all symbols and tables
  std::uint16_t* segment_memory;  ///< segment_words of each
  std::uint32_t* heads;           ///< of each segment which lanes have a state, then these
  LaneWords* words;               ///< of each segment
  std::uint32_t* sizes;           ///< likewise

  __device__ bool first_sign() const { return (signs[0] & 1) != 0; }
};

__global__ void __launch_bounds__(ItemPolicy::threads)
    gather_tiles(const __grid_constant__ SignsTask task) {
  const std::uint64_t place = ItemPolicy::first();
  if (place < task.grid.tiles()) task.tiles[place] = gather_tile(task.grid, task.signs, place);
}

/// A warp a lane, a thread a group of its tiles. Threads count the two commonest symbols in
/// registers, others in shared memory.
__global__ void __launch_bounds__(32 * SignsPolicy::list_warps)
    list_sign_symbols(const __grid_constant__ SignsTask task) {
  __shared__ std::uint32_t counts[sign_places];
  for (unsigned i = threadIdx.x; i < sign_places; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  constexpr std::uint32_t expected_symbol = place_of_symbol(0, 0);
  const std::uint64_t lane = std::uint64_t{blockIdx.x} * SignsPolicy::list_warps + threadIdx.x / 32;
  const SignRun run(task.grid, lane, task.first_sign());
  auto* const symbols =
      reinterpret_cast<std::uint16_t*>(task.symbols + lane * loads_of_lane(task.grid));
  std::uint32_t all = 0;
  std::uint32_t idle = 0;
  std::uint32_t expected = 0;
  for (std::uint32_t first = 0; first < run.groups(); first += 32) {
    const std::uint32_t number = first + threadIdx.x % 32;
    const bool has_group = number < run.groups();
    const SignGroup group(task.grid, run, task.tiles, has_group ? number : first);
    const std::uint32_t own = has_group ? group.symbols() : 0;
    std::uint16_t* to = symbols + all + (sum_to_lane(own) - own);
    all += __reduce_add_sync(~0U, own);
    if (!has_group) continue;
    group.for_each_symbol([&](std::uint32_t place) {
      *to++ = static_cast<std::uint16_t>(place);
      if (place == idle_symbol)
        ++idle;
      else if (place == expected_symbol)
        ++expected;
      else
        atomicAdd(&counts[place], 1U);
    });
  }
  idle = __reduce_add_sync(~0U, idle);
  expected = __reduce_add_sync(~0U, expected);
  const bool has_state = lane_has_state(all, idle);
  if (threadIdx.x % 32 == 0 && run.count != 0) {
    task.symbol_counts[lane] = has_state ? all : 0;
    if (has_state) {
      atomicAdd(&counts[idle_symbol], idle);
      atomicAdd(&counts[expected_symbol], expected);
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < sign_places; i += blockDim.x)
    if (counts[i] != 0) atomicAdd(&task.counts[i], counts[i]);
}

/// A warp a table.
__global__ void __launch_bounds__(32) choose_sign_tables(const __grid_constant__ SignsTask task) {
  __shared__ std::uint64_t own[token_places];
  __shared__ SymbolTable table;
  __shared__ std::uint32_t first[token_places + 1];
  const unsigned number = blockIdx.x;
  for (unsigned i = threadIdx.x; i < token_places; i += 32)
    own[i] = i < sign_symbols ? task.counts[place_of_symbol(number, i)] : 0;
  __syncwarp();
  const Cost cost = choose_table_by_warp(own, task.defaults->of[number].frequencies, false, table);
  if (threadIdx.x == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(task.cost), cost);
    task.tables->of[number] = table;
  }
  sum_frequencies(table.frequencies, first);
  if (threadIdx.x < sign_symbols)
    task.shares[place_of_symbol(number, threadIdx.x)] =
        PackedSymbolShare::of({table.frequencies[threadIdx.x], first[threadIdx.x]});
}

/// A warp a segment. Lanes end with their first symbol together.
__global__ void __launch_bounds__(32) encode_sign_segments(const __grid_constant__ SignsTask task) {
  const std::uint32_t segment = blockIdx.x;
  const unsigned lane = threadIdx.x;
  if (are_raw_signs(task.grid, *task.cost)) {
    if (lane == 0) task.sizes[segment] = 0;
    return;
  }
  __shared__ PackedSymbolShare shares[sign_places];
  for (unsigned i = lane; i < sign_places; i += 32) shares[i] = task.shares[i];
  __syncwarp();
  constexpr std::uint32_t at_once = LoadedSymbols::count;
  const std::uint64_t number = std::uint64_t{segment} * 32 + lane;
  const bool has_tiles = number < lanes_of_signs(task.grid.tiles());
  const std::uint32_t count = has_tiles ? task.symbol_counts[number] : 0;
  const LoadedSymbols* const symbols = task.symbols + number * loads_of_lane(task.grid);
  const auto load = [&](std::uint32_t i) {
    return i * at_once < count ? symbols[i] : LoadedSymbols{};
  };
  WordsOfLanes words(task.segment_memory + (segment + std::uint64_t{1}) * segment_words(task.grid));
  std::uint32_t state = lane_start;
  const std::uint32_t most = __reduce_max_sync(~0U, count);
  std::uint32_t turn = (most + at_once - 1) / at_once;
  LoadedSymbols next = load(turn == 0 ? 0 : turn - 1);
  CUSZI_NO_UNROLL
  while (turn-- > 0) {
    const LoadedSymbols own = next;
    if (turn > 0) next = load(turn - 1);
    PackedSymbolShare shares_of_own[at_once];
    CUSZI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (turn * at_once + i < count) shares_of_own[i] = shares[own.places[i]];
    words.put(shares_of_own, state);
  }
  const unsigned present = __ballot_sync(~0U, count != 0);
  std::uint32_t* const head = task.heads + std::uint64_t{segment} * (1 + most_head_words);
  const std::uint32_t of_states = store_states(count != 0, state, head + 1);
  if (lane != 0) return;
  *head = present;
  task.words[segment] = words.segment(present != 0 ? 1 + of_states : 0);
  task.sizes[segment] = task.words[segment].bytes();
}

/// A thread block a segment.
__global__ void __launch_bounds__(128)
    store_sign_segments(const __grid_constant__ SignsTask task, const std::uint64_t* offsets,
                        std::uint32_t* out) {
  const std::uint32_t segment = blockIdx.x;
  store_segment(task.words[segment], task.heads + std::uint64_t{segment} * (1 + most_head_words),
                out + offsets[segment] / 4);
}

/// Starts to find the tiles, the tables and their cost.
SignsTask start_tables(DeviceContext& gpu, const std::uint64_t* signs, const SignGrid& grid) {
  const std::uint64_t lanes = lanes_of_signs(grid.tiles());
  SignsTask task{};
  task.grid = grid;
  task.signs = signs;
  task.tiles = gpu.take<std::uint64_t>(grid.tiles());
  task.symbols = gpu.take<LoadedSymbols>(lanes * loads_of_lane(grid));
  task.symbol_counts = gpu.take<std::uint32_t>(lanes);
  ZeroedArrays zeroed;
  zeroed.add(task.counts, sign_places);
  zeroed.add(task.cost, 1);
  zeroed.take(gpu);
  task.defaults = upload(gpu, &default_sign_tables(), 1);
  task.tables = gpu.take<SignTables>(1);
  task.shares = gpu.take<PackedSymbolShare>(sign_places);
  launch_items(gpu, "gather_tiles", grid.tiles(), gather_tiles, task);
  list_sign_symbols<<<blocks_for(lanes, SignsPolicy::list_warps), 32 * SignsPolicy::list_warps, 0,
                      gpu.stream()>>>(task);
  check_launch("list_sign_symbols");
  choose_sign_tables<<<sign_tables, 32, 0, gpu.stream()>>>(task);
  check_launch("choose_sign_tables");
  return task;
}

}  // namespace

Bytes encode_signs(DeviceContext& gpu, const std::uint64_t* signs, const Dims& dims) {
  const SignGrid grid = SignGrid::of(dims);
  const unsigned segments = grid_of(segments_of_signs(grid.tiles()));
  SignsTask task = start_tables(gpu, signs, grid);
  task.segment_memory = gpu.take<std::uint16_t>(segments * segment_words(grid) + 2);
  task.heads = gpu.take<std::uint32_t>(std::uint64_t{segments} * (1 + most_head_words));
  task.words = gpu.take<LaneWords>(segments);
  task.sizes = gpu.take<std::uint32_t>(segments);
  auto* const offsets = gpu.take<std::uint64_t>(std::uint64_t{segments} + 1);
  encode_sign_segments<<<segments, 32, 0, gpu.stream()>>>(task);
  check_launch("encode_sign_segments");
  exclusive_sums(gpu, task.sizes, segments, offsets);
  CopyList downloads;
  const std::uint64_t& chains = *download(gpu, offsets + segments, 1, downloads);
  const SignTables& tables = *download(gpu, task.tables, 1, downloads);
  const Cost& cost = *download(gpu, task.cost, 1, downloads);
  const std::uint64_t& first_word = *download(gpu, signs, 1, downloads);
  downloads.run(gpu.stream());
  gpu.sync();

  const SignHead head{are_raw_signs(grid, cost), (first_word & 1) != 0, tables};
  const std::vector<std::byte> begin = head.write();
  const ByteCount index = 4 * std::uint64_t{segments};
  const ByteCount rest = head.is_raw ? raw_sign_bytes(grid.points()) : index + chains;
  auto* const section = gpu.take<std::byte>(begin.size() + rest);
  std::byte* const behind = section + begin.size();
  copy_pinned(gpu, section, stage(gpu, begin.data(), begin.size()), begin.size());
  if (head.is_raw) {
    start_copy(gpu, behind, reinterpret_cast<const std::byte*>(signs), rest);
  } else {
    start_copy(gpu, behind, reinterpret_cast<const std::byte*>(task.sizes), index);
    store_sign_segments<<<segments, 128, 0, gpu.stream()>>>(
        task, offsets, reinterpret_cast<std::uint32_t*>(behind + index));
    check_launch("store_sign_segments");
  }
  return {section, begin.size() + rest};
}

}  // namespace cuszi::gpu

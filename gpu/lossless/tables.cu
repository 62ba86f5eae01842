#include "gpu/coders/symbol_tables.cuh"
#include "gpu/lossless/tables.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned fill_threads = 256;

struct TableTask {
  const DeviceCounts* counts;
  const WordTables* defaults;
  WordTables* chosen;
  Cost* costs;  ///< of tokens, by class
  PackedSymbolShare* tokens;
  PackedSymbolShare* classes;
};

/// A warp a table: of tokens, then of classes.
__global__ void __launch_bounds__(32) choose_word_tables(const TableTask task) {
  __shared__ std::uint64_t own[token_places];
  __shared__ SymbolTable table;
  __shared__ std::uint32_t first[token_places + 1];
  const unsigned number = blockIdx.x % word_classes;
  const bool is_of_tokens = blockIdx.x < word_classes;
  const std::uint32_t* const counts =
      (is_of_tokens ? task.counts->tokens : task.counts->classes) + number * token_places;
  for (unsigned i = threadIdx.x; i < token_places; i += 32) own[i] = counts[i];
  __syncwarp();
  const SymbolTable& usual =
      (is_of_tokens ? task.defaults->tokens : task.defaults->classes)[number];
  Cost cost = 0;
  if (is_of_tokens && number == 0) {
    if (threadIdx.x == 0) table = usual;
  } else {
    cost = choose_table_by_warp(own, usual.frequencies, false, table);
  }
  __syncwarp();
  if (threadIdx.x == 0) {
    if (is_of_tokens) task.costs[number] = cost;
    (is_of_tokens ? task.chosen->tokens : task.chosen->classes)[number] = table;
  }
  sum_frequencies(table.frequencies, first);
  PackedSymbolShare* const shares =
      (is_of_tokens ? task.tokens : task.classes) + number * token_places;
  for (unsigned i = threadIdx.x; i < token_places; i += 32)
    shares[i] = PackedSymbolShare::of({table.frequencies[i], first[i]});
}

/// A warp a class of a choice.
__global__ void __launch_bounds__(32)
    add_costs(const std::uint32_t* counts, const WordTables* defaults, Cost* costs) {
  __shared__ std::uint64_t own[token_places];
  __shared__ SymbolTable table;
  const unsigned number = blockIdx.x;
  const unsigned octave = octave_of_class(number);
  counts += (blockIdx.y * word_classes + number) * token_places;
  bool is_there = false;
  std::uint64_t raw_bits = 0;
  for (unsigned i = threadIdx.x; i < token_places; i += 32) {
    own[i] = counts[i];
    if (own[i] == 0) continue;
    is_there = true;
    raw_bits += own[i] * form_of_token(i, octave).raw_bits;
  }
  if (number == 0 || !__any_sync(~0U, is_there)) return;
  for (unsigned half = 16; half != 0; half /= 2) raw_bits += __shfl_xor_sync(~0U, raw_bits, half);
  __syncwarp();
  const Cost cost = choose_table_by_warp(own, defaults->tokens[number].frequencies, false, table);
  if (threadIdx.x == 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(costs + blockIdx.y),
              cost + (raw_bits << cost_bits));
}

/// A thread block a table.
__global__ void __launch_bounds__(fill_threads)
    fill_word_tables(const WordTables* tables, WordSlots slots) {
  __shared__ std::uint32_t first[token_places + 1];
  const unsigned number = blockIdx.x % word_classes;
  const bool is_of_tokens = blockIdx.x < word_classes;
  const std::uint16_t* const frequencies =
      (is_of_tokens ? tables->tokens : tables->classes)[number].frequencies;
  if (threadIdx.x < 32) sum_frequencies(frequencies, first);
  __syncthreads();
  SlotShare* const shares =
      (is_of_tokens ? slots.token_shares : slots.class_shares) + number * token_places;
  for (unsigned i = threadIdx.x; i < token_places; i += fill_threads) {
    const std::uint32_t raw_bits =
        is_of_tokens ? form_of_token(i, octave_of_class(number)).raw_bits : 0;
    shares[i] = SlotShare::of({frequencies[i], first[i]}, raw_bits);
  }
  fill_slots(first, (is_of_tokens ? slots.token_symbols : slots.class_symbols) +
                        number * table_probability_one);
}

constexpr std::uint64_t all_shares = word_classes * token_places;
constexpr std::uint64_t all_slots = word_classes * table_probability_one;

}  // namespace

PendingTables start_tables(DeviceContext& gpu, const DeviceCounts* counts) {
  TableTask task{};
  task.counts = counts;
  task.defaults = upload(gpu, &default_word_tables(), 1);
  task.chosen = gpu.take<WordTables>(1);
  task.costs = gpu.take<Cost>(word_classes);
  task.tokens = gpu.take<PackedSymbolShare>(all_shares);
  task.classes = gpu.take<PackedSymbolShare>(all_shares);
  choose_word_tables<<<2 * word_classes, 32, 0, gpu.stream()>>>(task);
  check_launch("choose_word_tables");
  return {download(gpu, task.chosen, 1), download(gpu, task.costs, word_classes), task.tokens,
          task.classes};
}

std::vector<Cost> costs_of_counts(DeviceContext& gpu, const std::uint32_t* counts,
                                  std::size_t choices) {
  const WordTables* const defaults = upload(gpu, &default_word_tables(), 1);
  auto* const costs = gpu.take_zeroed<Cost>(choices);
  add_costs<<<dim3(word_classes, static_cast<unsigned>(choices)), 32, 0, gpu.stream()>>>(
      counts, defaults, costs);
  check_launch("add_costs");
  const Cost* const there = download(gpu, costs, choices);
  gpu.sync();
  return {there, there + choices};
}

WordSlots start_slots(DeviceContext& gpu, const WordTables& tables) {
  const WordSlots slots{gpu.take<std::uint8_t>(all_slots), gpu.take<SlotShare>(all_shares),
                        gpu.take<std::uint8_t>(all_slots), gpu.take<SlotShare>(all_shares)};
  fill_word_tables<<<2 * word_classes, fill_threads, 0, gpu.stream()>>>(upload(gpu, &tables, 1),
                                                                        slots);
  check_launch("fill_word_tables");
  return slots;
}

}  // namespace cuszi::gpu

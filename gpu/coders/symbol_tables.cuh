#pragma once

#include "core/coders/symbol_tables.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

// core's symbol tables by warps.

/// What symbols cost by a table, as core's cost_by_table(), in all lanes of a warp.
__device__ inline Cost warp_cost(const std::uint64_t* counts, const std::uint16_t* frequencies) {
  Cost cost = 0;
  for (unsigned i = threadIdx.x % 32; i < token_places; i += 32) {
    if (counts[i] == 0) continue;
    cost += counts[i] *
            ((Cost{table_probability_bits} << cost_bits) - log2_of(std::uint64_t{frequencies[i]}));
  }
  for (unsigned half = 16; half != 0; half /= 2) cost += __shfl_xor_sync(~0U, cost, half);
  return cost;
}

/// Fits frequencies as core's fit_frequencies(), by a warp: the lanes share the divisions and all
/// round alike, the first one stores.
__device__ inline void fit_frequencies_by_warp(const std::uint64_t* counts, bool is_signed,
                                               std::uint16_t* frequencies) {
  static_assert(token_places == 2 * 32);
  const unsigned lane = threadIdx.x % 32;
  std::uint64_t total = counts[lane] + counts[lane + 32];
  for (unsigned half = 16; half != 0; half /= 2) total += __shfl_xor_sync(~0U, total, half);
  const std::uint32_t low = ideal_frequency(counts, total, lane, is_signed);
  const std::uint32_t high = ideal_frequency(counts, total, lane + 32, is_signed);
  const auto ideal_of = [&](std::uint32_t symbol) {
    return __shfl_sync(~0U, symbol < 32 ? low : high, static_cast<int>(symbol % 32));
  };
  const std::int32_t rest = round_frequencies(counts, ideal_of, is_signed,
                                              [&](std::uint32_t symbol, std::uint16_t frequency) {
                                                if (lane == 0) frequencies[symbol] = frequency;
                                              });
  if (lane == 0) give_rest(rest_symbol(counts, is_signed), rest, is_signed, frequencies);
}

/// Chooses a table as core's choose_table(), by a warp. `counts` and `table` are in shared memory.
__device__ inline Cost choose_table_by_warp(const std::uint64_t* counts,
                                            const std::uint16_t* defaults, bool is_signed,
                                            SymbolTable& table) {
  const unsigned lane = threadIdx.x % 32;
  const Cost usual = warp_cost(counts, defaults);
  if (lane == 0) table.rest = static_cast<std::uint8_t>(rest_symbol(counts, is_signed));
  if (usual != 0) fit_frequencies_by_warp(counts, is_signed, table.frequencies);
  __syncwarp();
  Cost fitted = usual;
  if (usual != 0) {
    fitted = warp_cost(counts, table.frequencies) +
             (Cost{explicit_table_bits(table.frequencies, table.rest, is_signed)} << cost_bits);
  }
  __syncwarp();
  if (lane == 0) table.is_default = usual <= fitted;
  if (usual <= fitted)
    for (unsigned i = lane; i < token_places; i += 32) table.frequencies[i] = defaults[i];
  __syncwarp();
  return min(usual, fitted);
}

/// The sums of the frequencies before each symbol, and of all, by a warp. `first` is in shared
/// memory.
__device__ inline void sum_frequencies(const std::uint16_t* frequencies, std::uint32_t* first) {
  static_assert(token_places == 2 * 32);
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t even = frequencies[2 * lane];
  const std::uint32_t pair = even + frequencies[2 * lane + 1];
  const std::uint32_t sum = sum_to_lane(pair);
  first[2 * lane] = sum - pair;
  first[2 * lane + 1] = sum - pair + even;
  if (lane == 31) first[token_places] = sum;
  __syncwarp();
}

/// The symbol of each slot, by all threads of a block.
__device__ inline void fill_slots(const std::uint32_t (&first)[token_places + 1],
                                  std::uint8_t* symbols) {
  for (unsigned slot = threadIdx.x; slot < table_probability_one; slot += blockDim.x) {
    unsigned symbol = 0;
    for (unsigned step = token_places / 2; step > 0; step /= 2)
      if (first[symbol + step] <= slot) symbol += step;
    symbols[slot] = static_cast<std::uint8_t>(symbol);
  }
}

}  // namespace cuszi::gpu

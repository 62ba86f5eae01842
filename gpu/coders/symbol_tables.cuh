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

/// As core's rest_symbol(), in all lanes of a warp.
__device__ inline std::uint32_t warp_rest_symbol(const std::uint64_t* counts, bool is_signed) {
  if (is_signed) return 0;
  const unsigned lane = threadIdx.x % 32;
  const auto key = [&](unsigned i) { return counts[i] << 6 | (token_places - 1 - i); };
  std::uint64_t largest = max(key(lane), key(lane + 32));  // of equal ones the first
  for (unsigned half = 16; half != 0; half /= 2)
    largest = max(largest, __shfl_xor_sync(~0U, largest, half));
  return token_places - 1 - static_cast<std::uint32_t>(largest % token_places);
}

/// Which of the symbols of a table have a property, as bits, in all lanes of a warp.
template <class Has>
__device__ std::uint64_t symbols_that(const Has& has) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned low = __ballot_sync(~0U, has(lane));
  return low | std::uint64_t{__ballot_sync(~0U, has(lane + 32))} << 32;
}

/// Fits frequencies as core's fit_frequencies(), by a warp: the lanes share the divisions and all
/// round alike, the first one stores.
__device__ inline void fit_frequencies_by_warp(const std::uint64_t* counts, std::uint32_t rest_at,
                                               bool is_signed, std::uint16_t* frequencies) {
  const unsigned lane = threadIdx.x % 32;
  std::uint64_t total = counts[lane] + counts[lane + 32];
  for (unsigned half = 16; half != 0; half /= 2) total += __shfl_xor_sync(~0U, total, half);
  const std::uint32_t low = ideal_frequency(counts, total, lane, is_signed);
  const std::uint32_t high = ideal_frequency(counts, total, lane + 32, is_signed);
  const std::uint64_t there =
      symbols_that([&](unsigned i) { return mean_count(counts, i, is_signed) != 0; });
  frequencies[lane] = frequencies[lane + 32] = 0;
  __syncwarp();
  const std::int32_t rest = round_frequencies(
      rest_at, [&](std::uint32_t symbol) { return (there >> symbol & 1) != 0; },
      [&](std::uint32_t symbol) {
        return __shfl_sync(~0U, symbol < 32 ? low : high, static_cast<int>(symbol % 32));
      },
      is_signed,
      [&](std::uint32_t symbol, std::uint16_t frequency) {
        if (lane == 0) frequencies[symbol] = frequency;
      });
  if (lane == 0) give_rest(rest_at, rest, is_signed, frequencies);
}

/// As core's explicit_table_bits(), by a warp.
__device__ inline std::uint32_t warp_table_bits(const std::uint16_t* frequencies,
                                                std::uint32_t rest, bool is_signed) {
  const auto is_left_out = [&](unsigned i) { return i == rest || (is_signed && is_mirrored(i)); };
  const std::uint64_t there =
      symbols_that([&](unsigned i) { return frequencies[i] != 0 && i != rest; });
  const std::uint32_t end = max(bit_width_of(there), 1U);
  const std::uint64_t written =
      symbols_that([&](unsigned i) { return i < end && !is_left_out(i); });
  std::uint32_t bits = 0;
  for (unsigned i = threadIdx.x % 32; i < token_places; i += 32) {
    if ((written >> i & 1) == 0) continue;
    const unsigned before = bit_width_of(written & ((std::uint64_t{1} << i) - 1));
    const std::uint32_t last = before != 0 ? frequencies[before - 1] : 0;
    bits += bits_of_width(before != 0 ? bit_width_of(last) : first_width,
                          bit_width_of(std::uint32_t{frequencies[i]}));
  }
  return bits_before_widths(is_signed) + __reduce_add_sync(~0U, bits);
}

/// Chooses a table as core's choose_table(), by a warp. `counts` and `table` are in shared memory.
__device__ inline Cost choose_table_by_warp(const std::uint64_t* counts,
                                            const std::uint16_t* defaults, bool is_signed,
                                            SymbolTable& table) {
  static_assert(token_places == 2 * 32);
  const unsigned lane = threadIdx.x % 32;
  const Cost usual = warp_cost(counts, defaults);
  const std::uint32_t rest = warp_rest_symbol(counts, is_signed);
  Cost fitted = usual;
  if (usual != 0) {
    fit_frequencies_by_warp(counts, rest, is_signed, table.frequencies);
    __syncwarp();
    fitted = warp_cost(counts, table.frequencies) +
             (Cost{warp_table_bits(table.frequencies, rest, is_signed)} << cost_bits);
    __syncwarp();
  }
  if (lane == 0) {
    table.rest = static_cast<std::uint8_t>(rest);
    table.is_default = usual <= fitted;
  }
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

#pragma once

#include "core/field/quantizer.hpp"
#include "gpu/coders/tuning.cuh"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/tiled_ranges.cuh"

namespace cuszi::gpu {

// Stable sort of a pass's codes by table: tiles count, prefix sums give each tile's start per
// table, warps rank within tiles.

inline constexpr unsigned most_tables = 256;
static_assert(TableOrderPolicy::threads == most_tables);

struct OrderedPass {
  const std::uint8_t* contexts = nullptr;
  std::uint32_t codes = 0;
  std::uint32_t tables = 0;
  std::uint32_t tiles = 0;
  std::uint64_t first_count = 0;  ///< over all passes; [table][tile]
  std::uint8_t table_of[most_tables] = {};

  std::uint64_t counts() const { return std::uint64_t{tables} * tiles; }
};

struct SinglePass {
  OrderedPass pass;

  __device__ const OrderedPass& of_tile(std::uint32_t /*tile*/, std::uint32_t& /*number*/) const {
    return pass;
  }
  __device__ std::uint32_t first_tile(std::uint32_t /*number*/) const { return 0; }
};
struct ManyPasses {
  const OrderedPass* passes;
  TiledRanges tiles;

  __device__ const OrderedPass& of_tile(std::uint32_t tile, std::uint32_t& number) const {
    number = tiles.range_of(tile);
    return passes[number];
  }
  __device__ std::uint32_t first_tile(std::uint32_t number) const {
    return tiles.first_tiles[number];
  }
};

/// Contexts of consecutive codes, loaded as a vector where aligned.
class ContextVector {
 public:
  static constexpr unsigned size = sizeof(uint4);

  __device__ ContextVector(const std::uint8_t* contexts, std::uint32_t first, std::uint32_t count) {
    const std::uint8_t* const from = contexts + first;
    if (count == size && reinterpret_cast<std::uintptr_t>(from) % sizeof(uint4) == 0) {
      const uint4 all = *reinterpret_cast<const uint4*>(from);
      words_[0] = all.x, words_[1] = all.y, words_[2] = all.z, words_[3] = all.w;
      return;
    }
#pragma unroll
    for (unsigned i = 0; i < size; ++i) {
      if (i < count) words_[i / 4] |= std::uint32_t{from[i]} << (i % 4 * 8);
    }
  }

  __device__ std::uint32_t operator[](unsigned i) const {
    return words_[i / 4] >> (i % 4 * 8) & 0xFFU;
  }

 private:
  std::uint32_t words_[size / 4]{};
};

/// Up to ContextVector::size codes.
__device__ inline void set_codes(QuantCode* codes, std::uint32_t count, QuantCode code) {
  if (count == ContextVector::size &&
      reinterpret_cast<std::uintptr_t>(codes) % sizeof(uint4) == 0) {
    const std::uint32_t two = std::uint32_t{code} << 16 | code;
    auto* const vectors = reinterpret_cast<uint4*>(codes);
    vectors[0] = vectors[1] = make_uint4(two, two, two, two);
    return;
  }
  for (std::uint32_t i = 0; i < count; ++i) codes[i] = code;
}

/// Counts codes by tile and table. Fills `sorted`, if not null, with `code`; then there must be a
/// single pass.
template <class Passes>
__global__ void __launch_bounds__(TableOrderPolicy::threads)
    count_tables(const __grid_constant__ Passes passes, std::uint32_t* counts,
                 QuantCode* sorted = nullptr, QuantCode code = 0) {
  static_assert(TableOrderPolicy::tile_codes == TableOrderPolicy::threads * ContextVector::size);
  __shared__ std::uint32_t of_context[2][256];
  __shared__ std::uint32_t of_table[most_tables];
  std::uint32_t number = 0;
  const OrderedPass& pass = passes.of_tile(blockIdx.x, number);
  const std::uint32_t tile = blockIdx.x - passes.first_tile(number);
  of_context[0][threadIdx.x] = 0;
  of_context[1][threadIdx.x] = 0;
  of_table[threadIdx.x] = 0;
  __syncthreads();
  const std::uint32_t tile_first = tile * TableOrderPolicy::tile_codes;
  const std::uint32_t tile_codes = min(pass.codes - tile_first, TableOrderPolicy::tile_codes);
  const std::uint32_t before = threadIdx.x * ContextVector::size;
  const std::uint32_t count =
      before < tile_codes ? min(tile_codes - before, ContextVector::size) : 0;
  const std::uint32_t first = tile_first + before;
  const ContextVector contexts(pass.contexts, first, count);
  std::uint32_t* const own = of_context[threadIdx.x / 32 % 2];
  std::uint32_t alike = 0;  // consecutive codes of one context
#pragma unroll
  for (unsigned i = 0; i < ContextVector::size; ++i) {
    if (i >= count) continue;
    ++alike;
    if (i + 1 < count && contexts[i + 1] == contexts[i]) continue;
    atomicAdd(own + contexts[i], alike);
    alike = 0;
  }
  if (sorted != nullptr) set_codes(sorted + first, count, code);
  __syncthreads();
  const std::uint32_t all = of_context[0][threadIdx.x] + of_context[1][threadIdx.x];
  if (all != 0) atomicAdd(of_table + pass.table_of[threadIdx.x], all);
  __syncthreads();
  if (threadIdx.x < pass.tables) {
    counts[pass.first_count + std::uint64_t{threadIdx.x} * pass.tiles + tile] =
        of_table[threadIdx.x];
  }
}

/// Ranks a warp's codes within their tables. `cursors`: the warp's counts, initially 0. `ranked`:
/// contexts of a lane's codes in, tables and ranks (upper half) out.
template <unsigned rounds>
__device__ void rank_codes(const std::uint8_t* table_of, std::uint32_t tables, std::uint32_t count,
                           std::uint32_t* cursors, std::uint32_t (&ranked)[rounds]) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned below = (1U << lane) - 1;
#pragma unroll
  for (unsigned r = 0; r < rounds; ++r) {
    const bool on = lane + 32 * r < count;
    const std::uint32_t table = table_of[ranked[r]];
    unsigned peers = __ballot_sync(~0U, on);
    for (std::uint32_t bit = 1; bit < tables; bit *= 2) {
      const bool set = (table & bit) != 0;
      const unsigned with = __ballot_sync(~0U, set);
      peers &= set ? with : ~with;
    }
    const std::uint32_t rank = cursors[table] + static_cast<unsigned>(__popc(peers & below));
    __syncwarp();
    if (on && (peers >> lane) == 1) cursors[table] = rank + 1;
    __syncwarp();
    ranked[r] = table | rank << 16;
  }
}

/// Calls move.store(i, place, move.load(source, i, place)) for code i of a pass and its sorted
/// position; source = move.source_of(pass number, table).
template <class Passes, class Move>
__global__ void __launch_bounds__(TableOrderPolicy::threads,
                                  TableOrderPolicy::blocks_of_multiprocessor)
    move_codes(const __grid_constant__ Passes passes, const std::uint64_t* places, Move move) {
  constexpr unsigned rounds = TableOrderPolicy::warp_codes / 32;
  __shared__ std::uint8_t table_of[256];
  __shared__ std::uint32_t cursors[TableOrderPolicy::warps][most_tables];
  __shared__ typename Move::Source sources[most_tables];
  std::uint32_t number = 0;
  const OrderedPass& pass = passes.of_tile(blockIdx.x, number);
  const std::uint32_t tile = blockIdx.x - passes.first_tile(number);
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  table_of[threadIdx.x] = pass.table_of[threadIdx.x];
  for (unsigned w = 0; w < TableOrderPolicy::warps; ++w) cursors[w][threadIdx.x] = 0;
  __syncthreads();

  const std::uint32_t tile_first = tile * TableOrderPolicy::tile_codes;
  const std::uint32_t first = tile_first + warp * TableOrderPolicy::warp_codes;
  const std::uint32_t count =
      first < pass.codes ? min(pass.codes - first, TableOrderPolicy::warp_codes) : 0;
  std::uint32_t ranked[rounds];  // table, rank in the warp (upper half)
#pragma unroll
  for (unsigned r = 0; r < rounds; ++r) {
    const std::uint32_t i = lane + 32 * r;
    ranked[r] = i < count ? pass.contexts[first + i] : 0;
  }
  rank_codes(table_of, pass.tables, count, cursors[warp], ranked);
  __syncthreads();
  if (threadIdx.x < pass.tables) {
    auto at = static_cast<std::uint32_t>(
        places[pass.first_count + std::uint64_t{threadIdx.x} * pass.tiles + tile]);
    for (unsigned w = 0; w < TableOrderPolicy::warps; ++w) {
      const std::uint32_t own = cursors[w][threadIdx.x];
      cursors[w][threadIdx.x] = at;
      at += own;
    }
    sources[threadIdx.x] = move.source_of(number, threadIdx.x);
  }
  __syncthreads();

  constexpr unsigned batch = 8;  // codes loaded together
#pragma unroll
  for (unsigned r = 0; r < rounds; r += batch) {
    QuantCode moved[batch];
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) {
      const std::uint32_t i = lane + 32 * (r + k);
      const std::uint32_t table = ranked[r + k] & 0xFFFFU;
      ranked[r + k] = cursors[warp][table] + (ranked[r + k] >> 16);
      if (i < count) moved[k] = move.load(sources[table], first + i, ranked[r + k]);
    }
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) {
      const std::uint32_t i = lane + 32 * (r + k);
      if (i < count) move.store(first + i, ranked[r + k], moved[k]);
    }
  }
}

}  // namespace cuszi::gpu

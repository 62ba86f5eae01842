#pragma once

#include <algorithm>

#include "core/cells/blocks.hpp"
#include "core/cells/chain.hpp"
#include "core/cells/quantiser.hpp"
#include "gpu/cells/cell.cuh"
#include "gpu/cells/tuning.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// A SymbolShare that puts symbols without a division. By default it is that of a symbol that is
/// certain, which changes no state.
struct PackedCellShare {
  std::uint32_t frequency_and_first = table_probability_one;  ///< first in the upper half
  std::uint32_t reciprocal = 1U << (32 - table_probability_bits);

  CUSZI_HD static PackedCellShare of(const SymbolShare& share) {
    if (share.frequency == 0) return {};
    const std::uint64_t reciprocal = (std::uint64_t{1} << 32) / share.frequency;
    return {share.frequency | share.first << 16,
            static_cast<std::uint32_t>(reciprocal - (reciprocal >> 32))};
  }
  CUSZI_HD std::uint32_t frequency() const { return frequency_and_first & 0xFFFFU; }
  CUSZI_HD bool spills(std::uint32_t state) const {
    return state >> (32 - table_probability_bits) >= frequency();
  }
  /// The estimate of the quotient is at most 1 too small.
  CUSZI_HD std::uint32_t put(std::uint32_t state) const {
    auto quotient = static_cast<std::uint32_t>((std::uint64_t{state} * reciprocal) >> 32);
    if (state - quotient * frequency() >= frequency()) ++quotient;
    return state + quotient * (table_probability_one - frequency()) + (frequency_and_first >> 16);
  }
};

/// The segments of a pass: those of its classes, then those of its codes, have successive numbers
/// in the frame.
struct PassSegments {
  std::uint32_t first;
  std::uint32_t of_classes;
  std::uint32_t of_codes;  ///< at most
};

/// The chains of a frame as kernels see them; plain data.
struct CellsChains {
  int rank;
  int passes;  ///< that are coded or restored
  std::uint32_t tiles;
  CellGrid grid;
  const CodedPoints* coded;
  const std::uint32_t* blocks_of_lane;  ///< of codes
  std::uint8_t* classes;                ///< [tile][block]
  std::int16_t* codes;                  ///< [tile][block][code]
  const std::uint32_t* live;            ///< numbers of blocks that have codes, of all frames
  const std::uint64_t* live_before;     ///< [pass][tile]: those of frames before count, too
  PassSegments segments[most_cell_passes];
  std::uint32_t* flaws;

  __device__ std::uint64_t first_live(int pass) const {
    return live_before[static_cast<std::uint64_t>(pass) * tiles];
  }
  /// Which codes of a block are coded, as bits.
  __device__ std::uint64_t coded_of(std::uint32_t block) const {
    return __ldg(&coded->of[grid.cut_of_tile(block / tile_blocks)][block % tile_blocks]);
  }
  __device__ std::uint32_t blocks_of_lane_in(int pass) const {
    return cuszi::blocks_of_lane_in(rank, pass, tiles, *blocks_of_lane);
  }
  __device__ std::uint32_t code_segments(int pass) const {
    return static_cast<std::uint32_t>(
        cuszi::code_segments(first_live(pass + 1) - first_live(pass), blocks_of_lane_in(pass)));
  }
};

/// The blocks that the context of a block's class follows from, in shared memory.
struct SharedParents {
  std::uint8_t before[tile_blocks];
  std::uint8_t parent[tile_blocks];

  /// By all threads of a block, which wait.
  __device__ void fill(int rank) {
    for (unsigned block = threadIdx.x; block < tile_blocks; block += blockDim.x) {
      const BlockParents parents = block == 0 ? BlockParents{} : parents_of_block(rank, block);
      before[block] = static_cast<std::uint8_t>(parents.before);
      parent[block] = static_cast<std::uint8_t>(parents.parent);
    }
    __syncthreads();
  }
  /// See context_of_block().
  __device__ std::uint32_t context(const std::uint8_t* tile, std::uint32_t block,
                                   bool is_first_tile) const {
    if (block == 0) return is_first_tile ? 0U : *(tile - tile_blocks);
    return (std::uint32_t{tile[before[block]]} + tile[parent[block]] + 1) / 2;
  }
};

/// The runs of tiles whose classes the lanes of a segment code, in one pass.
struct ClassRuns {
  int rank;
  int pass;
  std::uint32_t segment;  ///< of the pass
  std::uint32_t tiles_of_run;
  std::uint32_t classes_of_tile;
  std::uint32_t first_block;  ///< of the pass in a tile
  std::uint32_t lanes;
  std::uint32_t first_tile;  ///< of this lane
  std::uint32_t tiles;       ///< of this lane

  __device__ ClassRuns(const CellsChains& chains, int of_pass, std::uint32_t number)
      : rank(chains.rank), pass(of_pass), segment(number) {
    tiles_of_run = run_of_classes(chains.rank, pass, chains.tiles);
    classes_of_tile = blocks_of_pass(chains.rank, pass);
    first_block = first_block_of_pass(chains.rank, pass);
    const auto all = static_cast<std::uint32_t>(ceil_div(chains.tiles, tiles_of_run));
    lanes = min(32U, all - number * 32);
    const std::uint32_t lane = number * 32 + threadIdx.x % 32;
    first_tile = lane * tiles_of_run;
    tiles = lane < all ? min(tiles_of_run, chains.tiles - first_tile) : 0;
  }
  __device__ std::uint32_t steps() const { return tiles * classes_of_tile; }
};

/// The blocks whose codes the lanes of a segment code: lane i takes i, i + 32, ...
struct CodeBlocks {
  const std::uint32_t* numbers;  ///< of this lane's first block
  std::uint32_t lanes;
  std::uint32_t rounds;
  std::uint32_t of_lane;  ///< blocks

  __device__ CodeBlocks(const CellsChains& chains, int pass, std::uint32_t segment) {
    const std::uint32_t blocks_of_lane = chains.blocks_of_lane_in(pass);
    const std::uint64_t first = std::uint64_t{segment} * 32 * blocks_of_lane;
    const std::uint64_t all = chains.first_live(pass + 1) - chains.first_live(pass);
    const auto count =
        static_cast<std::uint32_t>(min(all - first, std::uint64_t{32} * blocks_of_lane));
    const std::uint32_t lane = threadIdx.x % 32;
    numbers = chains.live + chains.first_live(pass) + first + lane;
    lanes = min(count, 32U);
    rounds = (count + 31) / 32;
    of_lane = lane < count ? (count - lane + 31) / 32 : 0;
  }
};

/// The segment that a warp of a block takes first, and how many are taken at once: successive ones
/// go to different multiprocessors.
struct ChainWarps {
  dim3 blocks;
  unsigned threads;

  /// Launch for frames of at most so many segments: a block a multiprocessor, or where there are
  /// more frames, blocks as small as their segments allow, so that several fit.
  ChainWarps(std::uint32_t segments, unsigned frames, unsigned multiprocessors)
      : blocks(std::min(segments, std::max(multiprocessors / frames, 1U)), frames),
        threads(32 * CellsPolicy::chain_warps) {
    const auto needed = static_cast<unsigned>(ceil_div(segments, blocks.x));
    if (frames > multiprocessors)
      threads = 32 * std::clamp(needed, CellsPolicy::fewest_chain_warps, CellsPolicy::chain_warps);
  }

  __device__ static std::uint32_t first() { return threadIdx.x / 32 * gridDim.x + blockIdx.x; }
  __device__ static std::uint32_t step() { return gridDim.x * (blockDim.x / 32); }
};

/// Finds the pass of a segment by its number among those of classes or of codes.
template <class CountOf>
__device__ inline bool find_pass(const CellsChains& chains, std::uint32_t& number, int& pass,
                                 const CountOf& count_of) {
  for (pass = 0; pass < chains.passes; ++pass) {
    const std::uint32_t count = count_of(pass);
    if (number < count) return true;
    number -= count;
  }
  return false;
}

}  // namespace cuszi::gpu

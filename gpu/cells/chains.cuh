#pragma once

#include <algorithm>

#include "core/cells/blocks.hpp"
#include "core/cells/chain.hpp"
#include "core/cells/quantiser.hpp"
#include "core/cells/sparse_block.hpp"
#include "gpu/cells/cell.cuh"
#include "gpu/cells/tuning.cuh"
#include "gpu/coders/symbol_lanes.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// The segments of a pass: those of its classes, then those of its codes, have successive numbers
/// in the frame.
struct PassSegments {
  std::uint32_t first;
  std::uint32_t of_classes;
  std::uint32_t of_codes;  ///< at most
};

/// The chains and lists of a frame as kernels see them; plain data.
struct CellsChains {
  int rank;
  int passes;  ///< that are coded or restored
  std::uint32_t tiles;
  CellGrid grid;
  CodedPoints* coded;
  const std::uint32_t* blocks_of_lane;  ///< of codes
  std::uint8_t* classes;                ///< [tile][block]
  std::int16_t* codes;                  ///< [tile][block][code]
  const std::uint32_t* live;            ///< numbers of blocks that have tokens, pass by pass
  const std::uint32_t* first_live;      ///< [pass], and the number of all
  const std::uint64_t* sparse;          ///< [tile]: which blocks are sparse, as bits
  const std::uint64_t* lists_at;        ///< [pass][tile]: bits of lists of the pass before
  const std::uint64_t* list_bits;       ///< [pass]: of all lists
  PassSegments segments[most_cell_passes];
  std::uint32_t* flaws;

  __device__ std::uint32_t live_of(int pass) const {
    return first_live[pass + 1] - first_live[pass];
  }
  __device__ std::uint64_t words_of_lists(int pass) const { return list_words(list_bits[pass]); }
  __device__ std::uint64_t class_lanes(int pass) const {
    return all_class_lanes(rank, pass, tiles);
  }
  /// Which codes of a block are coded, as bits.
  __device__ std::uint64_t coded_of(std::uint32_t block) const {
    return __ldg(&coded->of[grid.cut_of_tile(block / tile_blocks)][block % tile_blocks]);
  }
  __device__ std::uint32_t blocks_of_lane_in(int pass) const {
    return cuszi::blocks_of_lane_in(rank, pass, tiles, *blocks_of_lane);
  }
  __device__ std::uint32_t code_segments(int pass) const {
    return static_cast<std::uint32_t>(cuszi::code_segments(live_of(pass), blocks_of_lane_in(pass)));
  }
};

/// What a decoder looks up by the lowest bits of a state: a symbol of five bits, its frequency, and
/// the state's place within it. Small codes stand for themselves, other tokens count from
/// small_tokens on.
struct DecoderEntry {
  std::uint32_t bits;

  __device__ static DecoderEntry of(unsigned symbol, bool is_large, std::uint32_t frequency,
                                    std::uint32_t place) {
    return {symbol << 27 | (is_large ? 1U << 26 : 0U) | place << 12 | frequency};
  }
  __device__ static DecoderEntry of_token(unsigned token, std::uint32_t frequency,
                                          std::uint32_t place) {
    const bool is_large = token >= small_tokens;
    return of(is_large ? token - small_tokens : static_cast<unsigned>(code_of_small_token(token)),
              is_large, frequency, place);
  }
  __device__ unsigned symbol() const { return bits >> 27; }
  __device__ int code() const { return static_cast<int>(bits) >> 27; }
  __device__ bool is_large() const { return (bits & 1U << 26) != 0; }
  __device__ std::uint32_t frequency() const { return bits & 0xFFFU; }
  __device__ std::uint32_t next(std::uint32_t state) const {
    return frequency() * (state >> table_probability_bits) + (bits >> 12 & 0x3FFFU);
  }
  /// As above, of an entry of a small code that is not 0, if its pair is one symbol.
  __device__ std::uint32_t next_of_pair(std::uint32_t state) const {
    return next(state) + added_by_pair(state, frequency(), code() < 0 ? 1U : 0U);
  }
};
static_assert(table_probability_bits < 12 && class_count <= 32);
static_assert(cell_tokens - small_tokens <= 32);

/// Where the classes of a pass stand in the row of a tile: sub-boxes of as many blocks as a level
/// has classes. Pass 0 has block 0 alone.
struct ClassBoxes {
  int rank;
  std::uint32_t pass;
  std::uint32_t first_block;
  unsigned log2_boxes;

  __device__ ClassBoxes(int of_rank, int of_pass)
      : rank(of_rank),
        pass(static_cast<std::uint32_t>(of_pass)),
        first_block(first_block_of_pass(of_rank, of_pass)),
        log2_boxes(of_pass == 0 ? 0 : static_cast<unsigned>(of_rank * (of_pass - 1))) {}

  __device__ std::uint32_t boxes() const { return 1U << log2_boxes; }

  __device__ std::uint32_t classes() const {
    return pass == 0 ? 1 : static_cast<std::uint32_t>(classes_of_level(rank));
  }
  /// The classes of a box, a byte each, from the lowest on. Bytes above mean nothing.
  __device__ std::uint64_t load_box(const std::uint8_t* row, std::uint32_t box) const {
    return load(row, first_block + box * classes());
  }
  /// The classes of the parents of a box's blocks; not of pass 0.
  __device__ std::uint64_t load_parents(const std::uint8_t* row, std::uint32_t box) const {
    if (pass == 1) return std::uint64_t{__ldcg(row)} * 0x0101010101010101ULL;
    return load(row, first_parent_of_box(rank, pass - 1, box));
  }

 private:
  /// Past the first-level cache: the decoder reads what other multiprocessors have just written.
  __device__ std::uint64_t load(const std::uint8_t* row, std::uint32_t first) const {
    const auto* const words = reinterpret_cast<const unsigned long long*>(row) + first / 8;
    const unsigned shift = first % 8 * 8;
    const std::uint64_t low = __ldcg(words) >> shift;
    return shift + 8 * classes() > 64 ? low | __ldcg(words + 1) << (64 - shift) : low;
  }
};

/// The classes of a box, and those that they follow from.
struct LoadedBox {
  std::uint64_t own = 0;
  std::uint64_t parents = coarse_context;  ///< in pass 0 no class, but its context

  LoadedBox() = default;
  __device__ LoadedBox(const ClassBoxes& boxes, const std::uint8_t* row, std::uint32_t box)
      : own(boxes.load_box(row, box)) {
    if (boxes.pass > 0) parents = boxes.load_parents(row, box);
  }
  __device__ std::uint32_t kind(unsigned i) const {
    return static_cast<std::uint32_t>(own >> 8 * i) & 0xFFU;
  }
  __device__ std::uint32_t parent(unsigned i) const {
    return static_cast<std::uint32_t>(parents >> 8 * i) & 0xFFU;
  }
};

/// The runs of tiles whose classes the lanes of a segment code, in one pass.
struct ClassRuns {
  int rank;
  int pass;
  std::uint32_t segment;  ///< of the pass
  std::uint32_t tiles_of_run;
  std::uint32_t first_block;  ///< of the pass in a tile
  std::uint32_t lanes;
  std::uint32_t first_tile;  ///< of this lane
  std::uint32_t tiles;       ///< of this lane
  std::uint32_t most_tiles;  ///< of a lane: the first one's

  __device__ ClassRuns(const CellsChains& chains, int of_pass, std::uint32_t number)
      : rank(chains.rank), pass(of_pass), segment(number) {
    tiles_of_run = run_of_classes(chains.rank, pass);
    first_block = first_block_of_pass(chains.rank, pass);
    const auto all = static_cast<std::uint32_t>(ceil_div(chains.tiles, tiles_of_run));
    lanes = min(32U, all - number * 32);
    const std::uint32_t lane = number * 32 + threadIdx.x % 32;
    first_tile = lane * tiles_of_run;
    tiles = lane < all ? min(tiles_of_run, chains.tiles - first_tile) : 0;
    most_tiles = __shfl_sync(~0U, tiles, 0);
  }
};

/// The blocks whose codes the lanes of a segment code: lane i takes i, i + 32, ...
struct CodeBlocks {
  const std::uint32_t* numbers;  ///< of this lane's first block
  std::uint32_t lanes;
  std::uint32_t rounds;
  std::uint32_t of_lane;   ///< blocks
  std::uint32_t carrying;  ///< rounds whose signs may be carried

  __device__ CodeBlocks(const CellsChains& chains, int pass, std::uint32_t segment) {
    const std::uint32_t blocks_of_lane = chains.blocks_of_lane_in(pass);
    carrying = carrying_blocks(blocks_of_lane);
    const std::uint32_t first = segment * 32 * blocks_of_lane;
    const std::uint32_t count = min(chains.live_of(pass) - first, 32 * blocks_of_lane);
    const std::uint32_t lane = threadIdx.x % 32;
    numbers = chains.live + chains.first_live[pass] + first + lane;
    lanes = min(count, 32U);
    rounds = (count + 31) / 32;
    of_lane = lane < count ? (count - lane + 31) / 32 : 0;
  }
  /// The lane's block of a round; block 0 if it has none.
  __device__ std::uint32_t number(std::uint32_t round) const {
    return round < of_lane ? numbers[std::uint64_t{round} * 32] : 0;
  }
};

/// Whether a code is among those whose signs a lane may carry.
__device__ inline bool has_small_sign(int code) {
  return code != 0 && abs(code) <= most_small_code;
}

/// The segment that a warp of a block takes first, and how many are taken at once: successive ones
/// go to different multiprocessors.
struct ChainWarps {
  dim3 blocks;
  unsigned threads;

  /// Launch for frames of at most so many segments, with as many warps in a block: a block a
  /// multiprocessor, or where there are more frames, blocks as small as their segments allow, so
  /// that several fit.
  ChainWarps(std::uint32_t segments, unsigned frames, unsigned multiprocessors, unsigned most_warps)
      : blocks(std::min(segments, std::max(multiprocessors / frames, 1U)), frames),
        threads(32 * most_warps) {
    if (frames <= multiprocessors) return;
    const auto wanted = static_cast<unsigned>(ceil_div(segments, 2 * blocks.x));
    threads = 32 * std::min(std::max(wanted, CellsPolicy::fewest_chain_warps), most_warps);
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

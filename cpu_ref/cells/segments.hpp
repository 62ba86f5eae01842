#pragma once

#include <algorithm>
#include <array>

#include "core/coders/symbol_lanes.hpp"
#include "cpu_ref/cells/chains.hpp"

namespace cuszi::cpu {

/// The runs of tiles that a segment of classes has: every lane as many steps as it has blocks.
struct ClassSegment {
  std::uint64_t first_tile;
  std::uint32_t lanes;
  std::uint32_t run;         ///< tiles of a lane; the last lane may have fewer
  std::uint32_t last_tiles;  ///< of the last lane
  std::uint32_t blocks;      ///< of a tile
  std::uint32_t first_block;

  ClassSegment(const CellBlocks& all, int pass, std::uint64_t segment)
      : lanes(class_lanes(all.rank, pass, all.tiles, segment)),
        run(run_of_classes(all.rank, pass)),
        blocks(blocks_of_pass(all.rank, pass)),
        first_block(first_block_of_pass(all.rank, pass)) {
    first_tile = segment * most_lanes * run;
    const std::uint64_t before_last = first_tile + std::uint64_t{lanes - 1} * run;
    last_tiles = static_cast<std::uint32_t>(std::min<std::uint64_t>(run, all.tiles - before_last));
  }
  std::uint32_t steps() const { return run * blocks; }
  /// The lanes that have a symbol in a step.
  std::uint32_t lanes_of_step(std::uint32_t step) const {
    return step < last_tiles * blocks ? lanes : lanes - 1;
  }
  std::uint8_t* tile(const CellBlocks& all, std::uint32_t lane, std::uint32_t step) const {
    return all.classes + (first_tile + std::uint64_t{lane} * run + step / blocks) * tile_blocks;
  }
};

/// Contexts of the blocks of a tile, without divisions.
class Contexts {
 public:
  explicit Contexts(int rank) {
    for (std::uint32_t block = 1; block < tile_blocks; ++block)
      parents_[block] = parents_of_block(rank, block);
  }
  std::uint32_t of(const std::uint8_t* tile, std::uint32_t block) const {
    return block == 0 ? coarse_context : context_of_parents(tile, parents_[block]);
  }

 private:
  std::array<BlockParents, tile_blocks> parents_{};
};

/// The blocks of a segment of codes; in each round, every lane has one.
struct CodeSegment {
  std::span<const std::uint64_t> blocks;
  std::size_t carrying_rounds;

  CodeSegment(std::span<const std::uint64_t> live, std::uint32_t blocks_of_lane,
              std::uint64_t segment)
      : carrying_rounds(carrying_blocks(blocks_of_lane)) {
    const std::uint64_t size = std::uint64_t{most_lanes} * blocks_of_lane;
    blocks = live.subspan(segment * size, std::min(size, live.size() - segment * size));
  }
  std::uint32_t lanes() const {
    return static_cast<std::uint32_t>(std::min<std::size_t>(blocks.size(), most_lanes));
  }
  std::size_t rounds() const { return ceil_div(blocks.size(), most_lanes); }
  std::span<const std::uint64_t> round(std::size_t number) const {
    const std::size_t first = number * most_lanes;
    return blocks.subspan(first, std::min<std::size_t>(most_lanes, blocks.size() - first));
  }
};

/// The blocks of a round: lanes are coded in turns, a code of each.
struct Round {
  std::span<const std::uint64_t> blocks;
  std::uint64_t coded[most_lanes] = {};
  std::uint32_t classes[most_lanes] = {};

  Round(const CellBlocks& all, std::span<const std::uint64_t> of_round) : blocks(of_round) {
    for (std::size_t lane = 0; lane < blocks.size(); ++lane) {
      coded[lane] = all.coded_of(blocks[lane]);
      classes[lane] = all.classes[blocks[lane]];
    }
  }
  bool is_whole() const {
    return std::all_of(std::begin(coded), std::end(coded), [](auto bits) { return ~bits == 0; });
  }
};

/// The largest magnitude among the codes of a block.
inline int largest_magnitude(const std::int16_t* codes) {
  std::int16_t least = 0;
  std::int16_t most = 0;
  for (int i = 0; i < cell_block_codes; ++i) {
    least = std::min(least, codes[i]);
    most = std::max(most, codes[i]);
  }
  return std::max(-least, int{most});
}
/// The tokens of the codes of a block, given its largest magnitude, and their raw bits.
inline void tokens_of_block(const std::int16_t* codes, int largest, std::uint16_t* tokens,
                            std::uint16_t* raws) {
  if (largest <= most_small_code) {
    for (int i = 0; i < cell_block_codes; ++i)
      tokens[i] = static_cast<std::uint16_t>(small_token_of(codes[i]));
    std::fill_n(raws, cell_block_codes, std::uint16_t{0});
    return;
  }
#pragma omp simd
  for (int i = 0; i < cell_block_codes; ++i) {
    const CellToken token = token_of_code(codes[i]);
    tokens[i] = static_cast<std::uint16_t>(token.token);
    raws[i] = static_cast<std::uint16_t>(token.raw);
  }
}

}  // namespace cuszi::cpu

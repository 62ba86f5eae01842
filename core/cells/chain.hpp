#pragma once

#include <cstdint>

#include "core/cells/blocks.hpp"
#include "core/cells/grid.hpp"
#include "core/coders/ans_slots.hpp"
#include "core/coders/symbol_tables.hpp"

namespace cuszi {

// Chains: interleaved rANS of up to 32 lanes a segment, as in core/coders/ans_slots, with smaller
// frequencies, so that tables of all classes fit the fast memory of a processor. A segment is the
// first states of its lanes (core/coders/lane_states.hpp), then 16-bit words in the order in which
// a decoder takes them, padded by zeros to 4 bytes. In a step every lane that has symbols left
// takes one, then lanes of states below 2^16 take a word each; then lanes whose token has raw bits
// take those, and again words. Every lane ends in state 2^16 and what it carries: those of classes
// 16 bits of lists (sparse_block.hpp), those of codes signs.

/// How the tiles of a frame are divided among the lanes that code the classes of a pass: each has a
/// run of successive tiles, and codes their blocks one after the other. The time of a chain is that
/// of a lane.
inline constexpr std::uint32_t most_run_classes = 256;
CUSZI_HD constexpr std::uint32_t run_of_classes(int rank, int pass) {
  std::uint32_t run = most_run_classes;
  while (run > 1 && run * blocks_of_pass(rank, pass) > most_run_classes) run /= 2;
  return run;
}
CUSZI_HD constexpr std::uint64_t class_segments(int rank, int pass, std::uint64_t tiles) {
  return ceil_div(tiles, std::uint64_t{most_lanes} * run_of_classes(rank, pass));
}
/// The lanes of all segments of classes of a pass, each of which has a run of tiles.
CUSZI_HD constexpr std::uint64_t all_class_lanes(int rank, int pass, std::uint64_t tiles) {
  return ceil_div(tiles, std::uint64_t{run_of_classes(rank, pass)});
}
/// The lanes of one segment of classes.
CUSZI_HD constexpr std::uint32_t class_lanes(int rank, int pass, std::uint64_t tiles,
                                             std::uint64_t segment) {
  const std::uint64_t left = all_class_lanes(rank, pass, tiles) - segment * most_lanes;
  return left < most_lanes ? static_cast<std::uint32_t>(left) : most_lanes;
}

/// How the blocks of a pass that have codes are divided, in the order of tiles: of the blocks of a
/// segment, 32 for each of the lane's blocks, lane i has i, i + 32, ...
inline constexpr std::uint32_t fewest_blocks_of_lane = 8;
inline constexpr int lane_code_bits = 2;  ///< of log2(blocks_of_lane / 8) in a head
inline constexpr std::uint32_t most_blocks_of_lane = 32;
inline constexpr std::uint64_t many_tiles = 4096;
/// In large frames, lanes of coarse passes, whose codes are large and take longest, have a quarter
/// and a half.
CUSZI_HD constexpr std::uint32_t blocks_of_lane_in(int rank, int pass, std::uint64_t tiles,
                                                   std::uint32_t blocks_of_lane) {
  if (tiles < many_tiles) return blocks_of_lane;
  const int finer_passes = cell_passes(rank) - 1 - pass;
  return blocks_of_lane >> (finer_passes < 2 ? finer_passes : 2);
}
CUSZI_HD constexpr std::uint64_t code_segments(std::uint64_t live_blocks,
                                               std::uint32_t blocks_of_lane) {
  return ceil_div(live_blocks, std::uint64_t{most_lanes} * blocks_of_lane);
}
/// This many segments keep a large GPU busy.
inline constexpr std::uint64_t enough_segments = 1024;
/// Longer lanes where blocks are cheap, given how many codes are coded and what they cost in bits:
/// a lane's state wastes some 21 less the signs that it carries. Longer ones, too, where there are
/// enough segments even so: each takes time to begin.
CUSZI_HD constexpr std::uint32_t choose_blocks_of_lane(std::uint64_t codes, std::uint64_t bits) {
  constexpr std::uint64_t wanted_bits = 384;
  const std::uint64_t live_blocks = codes / cell_block_codes;
  std::uint32_t blocks = fewest_blocks_of_lane;
  while (blocks < most_blocks_of_lane &&
         (blocks * bits < wanted_bits * live_blocks ||
          code_segments(live_blocks, 2 * blocks) >= enough_segments)) {
    blocks *= 2;
  }
  return blocks;
}

// A lane's last state carries 16 signs, which nothing predicts: those of its first small codes that
// are not 0, within its first blocks. These codes are put as if both tokens of their pair were one.

inline constexpr std::uint32_t most_carried_signs = 16;
/// The blocks of a lane whose signs may be carried, so that the others are coded without a count.
CUSZI_HD constexpr std::uint32_t carrying_blocks(std::uint32_t blocks_of_lane) {
  return (blocks_of_lane + 3) / 4;
}
CUSZI_HD constexpr bool has_small_sign(std::uint32_t token) {
  return token > 0 && token < small_tokens;
}
/// The token of the pair that is positive.
CUSZI_HD constexpr std::uint32_t positive_token(std::uint32_t token) { return (token - 1) | 1; }
/// The share of a pair, given that of its positive token.
CUSZI_HD constexpr SymbolShare share_of_pair(const SymbolShare& positive) {
  return {2 * positive.frequency, positive.first};
}
/// How much larger the state is after a pair was taken than after its token alone, which stands for
/// 1 if it `is_negative`, else 0.
CUSZI_HD constexpr std::uint32_t added_by_pair(std::uint32_t state, std::uint32_t frequency,
                                               std::uint32_t is_negative) {
  return frequency * ((state >> table_probability_bits) + is_negative);
}

}  // namespace cuszi

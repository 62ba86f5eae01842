#pragma once

#include <cstdint>

#include "core/base/bit_width.hpp"
#include "core/base/hd.hpp"
#include "core/cells/grid.hpp"
#include "core/coders/symbol_tables.hpp"

namespace cuszi {

// A block of 64 codes has a class, which says how large its codes are and chooses their frequency
// table. Classes are coded before codes, each under a context that follows from classes before it.

inline constexpr int class_count = 24;

/// The class of a block of 64 codes whose magnitudes have this sum; 0: all are 0, and none is
/// coded.
CUSZI_HD inline std::uint8_t class_of_sum(std::uint32_t sum) {
  if (sum < 4) return static_cast<std::uint8_t>(sum);
  const std::uint32_t exponent = bit_width_of(sum) - 1;  // two classes an octave up to 512
  if (exponent >= 9) return static_cast<std::uint8_t>(exponent < 14 ? exponent + 9 : 23);
  return static_cast<std::uint8_t>(2 * exponent + (sum >> (exponent - 1) & 1));
}

// Codes of points outside the field are not coded. The one of a tile's anchor is coded under local
// bounds: it tells the anchor's value in steps of its own bound.

/// Which codes of a tile are coded, by the axes along which it sticks out of the field: a bit a
/// code.
struct CodedPoints {
  std::uint64_t of[8][tile_blocks];  ///< [cut][block]

  /// Whether a point of a tile that is cut along these axes is coded.
  template <class Shape>
  CUSZI_HD static bool has(const CellGrid& grid, unsigned cut, int z, int y, int x) {
    const int at[axis_count] = {z, y, x};
    bool is_inside = (z | y | x) != 0 || grid.has_anchor_codes;
    for (int axis = 0; axis < axis_count; ++axis) {
      const auto left =
          static_cast<int>(grid.extents[axis] % static_cast<unsigned>(Shape::extent(axis)));
      is_inside = is_inside && ((cut >> axis & 1) == 0 || at[axis] < left);
    }
    return is_inside;
  }
};

/// The class of a block of which so many codes are coded: that of a whole block of such codes.
CUSZI_HD inline std::uint8_t class_of_block(std::uint32_t sum, std::uint32_t coded) {
  return class_of_sum(sum == 0 || coded == cell_block_codes ? sum : sum * cell_block_codes / coded);
}

/// A block's predecessors in the chain of classes of its tile.
struct BlockParents {
  std::uint32_t before;  ///< the block of the class before in the same sub-box, else the parent
  std::uint32_t parent;  ///< the coarser block that covers it
};

/// The first of the blocks that are the parents of those of a sub-box, in the same order. There are
/// 2^depth sub-boxes along an axis; if that is one, block 0 is the parent of all its blocks.
CUSZI_HD constexpr std::uint32_t first_parent_of_box(int rank, std::uint32_t depth,
                                                     std::uint32_t box) {
  if (depth == 0) return 0;
  const auto axes = static_cast<std::uint32_t>(rank);
  std::uint32_t coarse = 0;
  for (std::uint32_t axis = 0; axis < axes; ++axis) {  // the fastest first
    const std::uint32_t along = box >> (axis * depth) & ((1U << depth) - 1);
    coarse |= along >> 1 << (axis * (depth - 1));
  }
  return (1U << (axes * (depth - 1))) + coarse * static_cast<std::uint32_t>(classes_of_level(rank));
}

/// The blocks whose classes are the context of a block's, which is not block 0.
CUSZI_HD inline BlockParents parents_of_block(int rank, std::uint32_t block) {
  const auto classes = static_cast<std::uint32_t>(classes_of_level(rank));
  const auto axes = static_cast<std::uint32_t>(rank);
  const std::uint32_t depth = (bit_width_of(block) - 1) / axes;  // sub-boxes an axis: 2^depth
  const std::uint32_t number = block - (1U << (axes * depth));
  const std::uint32_t box = number / classes;
  const std::uint32_t odd = number - box * classes;
  const std::uint32_t parent = first_parent_of_box(rank, depth, box) + (depth > 0 ? odd : 0);
  return {odd > 0 ? block - 1 : parent, parent};
}

/// The context of a class, given those of the block before and of the parent.
CUSZI_HD constexpr std::uint32_t context_of_classes(std::uint32_t before, std::uint32_t parent) {
  return (before + parent + 1) / 2;
}
/// The same of block i of a sub-box; nothing is before the first.
CUSZI_HD constexpr std::uint32_t context_in_box(std::uint32_t i, std::uint32_t before,
                                                std::uint32_t parent) {
  return context_of_classes(i == 0 ? parent : before, parent);
}
/// The same of a block with these parents, given the classes of its tile.
CUSZI_HD inline std::uint32_t context_of_parents(const std::uint8_t* tile,
                                                 const BlockParents& parents) {
  return context_of_classes(tile[parents.before], tile[parents.parent]);
}

/// The context of the class of block 0, whose codes are the largest. Few other blocks have it:
/// those between blocks of the largest class.
inline constexpr std::uint32_t coarse_context = class_count - 1;

/// The context of the class of a block, given the classes of its tile.
CUSZI_HD inline std::uint32_t context_of_block(int rank, const std::uint8_t* tile,
                                               std::uint32_t block) {
  return block == 0 ? coarse_context : context_of_parents(tile, parents_of_block(rank, block));
}

// Tokens of codes: those up to magnitude 15 have one each; larger ones share one by half octaves of
// their magnitude, and raw bits tell the rest and the sign.

inline constexpr int most_small_code = small_tokens / 2;
inline constexpr std::uint32_t cell_tokens = 53;
inline constexpr std::uint32_t class_places = 32;

struct CellToken {
  std::uint32_t token;
  std::uint32_t raw_bits;
  std::uint32_t raw;
};

/// The token of a code of magnitude 15 at most: 0, 1, -1, 2, ... Signs are no branches, which no
/// processor would predict.
CUSZI_HD constexpr std::uint32_t small_token_of(int code) {
  return static_cast<std::uint32_t>(-code) << 1 ^ static_cast<std::uint32_t>(-code >> 31);
}
CUSZI_HD constexpr int code_of_small_token(std::uint32_t token) {
  return -static_cast<int>(token >> 1 ^ (0U - (token & 1)));
}

CUSZI_HD inline CellToken token_of_code(int code) {
  const auto magnitude = static_cast<std::uint32_t>(code < 0 ? -code : code);
  if (magnitude <= most_small_code) return {small_token_of(code), 0, 0};
  const std::uint32_t open = bit_width_of(magnitude) - 2;  // bits below the first two
  const std::uint32_t token = small_tokens + 2 * (open - 3) + (magnitude >> open & 1);
  return {token, open + 1, (magnitude & ((1U << open) - 1)) << 1 | (code < 0 ? 1U : 0U)};
}
/// How many raw bits a token that is not small has.
CUSZI_HD constexpr std::uint32_t raw_bits_of_code_token(std::uint32_t token) {
  return (token - small_tokens) / 2 + 4;
}
/// How many raw bits any token has.
CUSZI_HD constexpr std::uint32_t raw_bits_of_any_token(std::uint32_t token) {
  return token < small_tokens ? 0 : raw_bits_of_code_token(token);
}
/// The code of a token that is not small, below cell_tokens.
CUSZI_HD constexpr int code_of_token(std::uint32_t token, std::uint32_t raw) {
  const std::uint32_t open = raw_bits_of_code_token(token) - 1;
  const auto magnitude = static_cast<int>((2 + ((token - small_tokens) & 1)) << open | raw >> 1);
  return (raw & 1) != 0 ? -magnitude : magnitude;
}

}  // namespace cuszi

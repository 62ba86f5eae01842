#pragma once

#include "core/multilevel/multilevel.hpp"
#include "core/multilevel/schedule.hpp"

namespace cuszi {

// Contexts of blocks (MultilevelParams::block_contexts). A block is 64 quant-codes that follow each
// other in a pass, mostly those of a tile. All have one context, that of the block's probe, one of
// its points. Decoders then move whole blocks where they would have to look at every code.

inline constexpr std::uint64_t block_codes = 64;
/// Passes of fewer codes have contexts of points: blocks are large in them, and they take no time.
inline constexpr std::uint64_t least_blocked_pass = 1024;

/// The code position of a block's probe, in a pass of `points` points: in a tile of 4x4x4 points
/// (1, 1, 1), which is not at the border where the first and the last tile of an axis are.
CUSZI_HD inline std::uint64_t probe_position(std::uint64_t block, std::uint64_t points) {
  const std::uint64_t position = block * block_codes + 21;
  return position < points ? position : points - 1;
}

/// Whether the codes of a pass have contexts of blocks.
inline bool has_blocks(const MultilevelParams& params, const Pass& pass) {
  return params.block_contexts && pass.points >= least_blocked_pass;
}

}  // namespace cuszi

#pragma once

#include "core/cells/blocks.hpp"
#include "core/coders/symbol_tables.hpp"

namespace cuszi {

// Frequency tables of `cells`: one of tokens for each class but 0, one of classes for each context.
// A frame's head has those that pay for themselves; others are defaults of the format.

struct CellsTables {
  SymbolTable codes[class_count];    ///< of tokens, by class; none is coded in class 0
  SymbolTable classes[class_count];  ///< of classes, by context
};

/// The default tables.
const CellsTables& default_tables();

// Of a frame of many tiles, the tokens of one tile in `counted_part` are counted. A token that only
// others have needs a frequency, too: each that its class can have counts once more.

inline constexpr std::uint32_t counted_part = 4;
inline constexpr std::uint64_t fewest_sampled_tiles = 1 << 14;

/// Whether the tokens of a tile are counted. Hashed, so that rows of tiles do not matter.
CUSZI_HD constexpr bool is_counted(std::uint64_t tile, std::uint64_t tiles) {
  return tiles < fewest_sampled_tiles ||
         static_cast<std::uint32_t>(tile) * 0x9E3779B1U < 0xFFFFFFFFU / counted_part;
}
/// How often a token comes in a frame, as an estimate. `has_any`: tokens of its class were counted.
CUSZI_HD constexpr std::uint64_t estimated_count(std::uint64_t counted, bool has_any,
                                                 std::uint64_t tiles,
                                                 std::uint32_t default_frequency) {
  if (tiles < fewest_sampled_tiles) return counted;
  return counted * counted_part + (has_any && default_frequency != 0 ? 1 : 0);
}

}  // namespace cuszi

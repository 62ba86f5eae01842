#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.hpp"
#include "core/coders/symbol_tables.hpp"
#include "core/lossless/word_grid.hpp"
#include "core/lossless/word_map.hpp"

namespace cuszi {

struct WordTables {
  SymbolTable tokens[word_classes];   ///< by class; class 0 has none
  SymbolTable classes[word_classes];  ///< by the class of the block before
};
const WordTables& default_word_tables();

/// What stands in the section `codebook` of a predicted frame.
template <class Word>
struct WordHead {
  WordMap<Word> map;
  Orders orders{};
  Extents3 chunk{};
  std::uint32_t blocks_of_lane = 0;
  WordTables tables;

  std::vector<std::byte> write() const;
  /// Throws ArchiveError.
  static WordHead read(Bytes bytes, const Extents3& extents);
};

// How blocks are divided among lanes. Those of classes have runs of successive blocks; of the
// blocks of a segment that have tokens, lane i has i, i + 32, ...

inline constexpr std::uint64_t blocks_of_class_lane = 512;
inline constexpr std::uint32_t fewest_blocks_of_token_lane = 16;
inline constexpr int token_lane_bits = 3;  ///< of log2(blocks_of_lane / 16) in a head

/// Longer lanes where blocks are cheap, since each lane wastes some 21 bits. `bits`: of all blocks,
/// those that are raw, too.
std::uint32_t choose_blocks_of_token_lane(std::uint64_t live_blocks, std::uint64_t bits);

}  // namespace cuszi

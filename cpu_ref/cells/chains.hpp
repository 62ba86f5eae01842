#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/cells/head.hpp"
#include "cpu_ref/base/workspace.hpp"

namespace cuszi::cpu {

/// The numbers of a pass's blocks that have codes.
struct LiveBlocks {
  std::vector<std::uint64_t> coded;  ///< by tokens
  std::vector<std::uint64_t> sparse;

  bool empty() const { return coded.empty() && sparse.empty(); }
};

/// The blocks of all tiles of a frame.
struct CellBlocks {
  int rank;
  std::uint64_t tiles;
  CellGrid grid;
  const CodedPoints* coded;
  std::uint8_t* classes;  ///< [tile][block]
  std::int16_t* codes;    ///< [tile][block][code]; of a block of class 0 they mean nothing

  LiveBlocks live(int pass) const;
  /// The codes of a block that are coded, as bits.
  std::uint64_t coded_of(std::uint64_t block) const {
    return coded->of[grid.cut_of_tile(block / tile_blocks)][block % tile_blocks];
  }
};

/// The codes of a frame's tiles that are coded.
template <class Shape>
std::unique_ptr<CodedPoints> coded_points(const CellGrid& grid) {
  auto coded = std::make_unique<CodedPoints>();
  for (unsigned cut = 0; cut < 8; ++cut) {
    if ((cut & ~grid.cut) != 0) continue;
    for (int z = 0; z < Shape::extent(0); ++z)
      for (int y = 0; y < Shape::extent(1); ++y)
        for (int x = 0; x < Shape::extent(2); ++x) {
          if (!CodedPoints::has<Shape>(grid, cut, z, y, x)) continue;
          const int position = Shape::position_of_point(z, y, x);
          coded->of[cut][position / cell_block_codes] |= std::uint64_t{1}
                                                         << position % cell_block_codes;
        }
  }
  return coded;
}

/// How often symbols come: what tables follow from. Both tokens of a pair have the same frequency,
/// so the positive one may be counted for both.
struct CellCounts {
  std::uint64_t codes[class_count][token_places] = {};    ///< tokens, by class
  std::uint64_t classes[class_count][token_places] = {};  ///< by context
  /// What add_block() counts in blocks of larger codes and add() adds to `codes`: successive codes
  /// are counted apart, so that none waits for the one before.
  std::uint64_t parts[class_count][4][token_places] = {};

  void add_block(int number, const std::int16_t* block, std::uint64_t coded);
  void add_contexts(const CellBlocks& blocks);
  void add(const CellCounts& others);
  /// How many raw bits the counted codes have.
  std::uint64_t raw_bits() const;
};

inline constexpr const char* cells_damage = "a chain of `cells` does not end as it should";

/// The words of the lists of sparse blocks.
std::vector<std::uint16_t> pack_lists(const CellBlocks& all,
                                      const std::vector<std::uint64_t>& sparse);
/// Restores sparse blocks. `carried`: a word of each lane; `section`: the words behind these.
/// Throws ArchiveError.
void unpack_lists(const CellBlocks& all, const std::vector<std::uint64_t>& sparse,
                  std::vector<std::uint16_t> carried, Bytes section);

/// The sections of the chains of a pass: index, contexts and codes, those that are not empty.
std::vector<OwnedSection> encode_chains(const CellBlocks& blocks, int pass, const CellsHead& head);

/// Decodes the classes and the codes of a pass, after those of the passes before. Throws
/// ArchiveError.
void decode_chains(const CellBlocks& blocks, int pass, const CellsHead& head,
                   const Sections& sections);

}  // namespace cuszi::cpu

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cells/head.hpp"
#include "cpu_ref/base/workspace.hpp"

namespace cuszi::cpu {

/// The blocks of all tiles of a frame.
struct CellBlocks {
  int rank;
  std::uint64_t tiles;
  std::uint8_t* classes;  ///< [tile][block]
  std::int16_t* codes;    ///< [tile][block][code]; of a block of class 0 they mean nothing

  /// The numbers of a pass's blocks that have codes.
  std::vector<std::uint64_t> live(int pass) const;
};

/// How often symbols come: what tables follow from.
struct CellCounts {
  std::uint64_t codes[class_count][token_places] = {};    ///< tokens, by class
  std::uint64_t classes[class_count][token_places] = {};  ///< by context
  std::uint64_t raw_bits = 0;
  std::uint64_t live_blocks = 0;

  void add_block(int number, const std::int16_t* codes);
  void add_contexts(const CellBlocks& blocks);
  void add(const CellCounts& others);
};

/// The sections of the chains of a pass: index, contexts and codes, those that are not empty.
std::vector<OwnedSection> encode_chains(const CellBlocks& blocks, int pass, const CellsHead& head);

/// Decodes the classes and the codes of a pass, after those of the passes before. Throws
/// ArchiveError.
void decode_chains(const CellBlocks& blocks, int pass, const CellsHead& head,
                   const Sections& sections);

}  // namespace cuszi::cpu

#include <bit>

#include "cpu_ref/base/wide_vectors.hpp"
#include "cpu_ref/cells/segments.hpp"

namespace cuszi::cpu {

namespace {

/// Codes of blocks up to this magnitude are counted by vectors, the others one by one.
constexpr int most_counted_at_once = 6;

/// How many codes of a block have this magnitude.
unsigned count_of_magnitude(const std::int16_t* codes, int magnitude) {
  const auto positive = static_cast<std::int16_t>(magnitude);
  const auto negative = static_cast<std::int16_t>(-magnitude);
  std::uint16_t count = 0;
  for (int i = 0; i < cell_block_codes; ++i)
    count = static_cast<std::uint16_t>(count + (codes[i] == positive || codes[i] == negative));
  return count;
}

}  // namespace

void CellCounts::add_block(int number, const std::int16_t* block, std::uint64_t coded) {
  codes[number][0] -= static_cast<unsigned>(cell_block_codes - std::popcount(coded));
  const int largest = largest_magnitude(block);
  if (largest <= most_counted_at_once) {
    unsigned zeros = cell_block_codes;
    for (int magnitude = 1; magnitude <= largest; ++magnitude) {
      const unsigned count = count_of_magnitude(block, magnitude);
      codes[number][small_token_of(magnitude)] += count;
      zeros -= count;
    }
    codes[number][0] += zeros;
    return;
  }
  std::uint16_t tokens[cell_block_codes];
  std::uint16_t raws[cell_block_codes];
  with_wide_vectors([&] { tokens_of_block(block, largest, tokens, raws); });
  for (int i = 0; i < cell_block_codes; ++i) ++parts[number][i % 4][tokens[i]];
}

void CellCounts::add_contexts(const CellBlocks& blocks) {
  const Contexts contexts(blocks.rank);
  for (std::uint64_t tile = 0; tile < blocks.tiles; ++tile) {
    const std::uint8_t* const row = blocks.classes + tile * tile_blocks;
    for (std::uint32_t block = 0; block < tile_blocks; ++block)
      ++classes[contexts.of(row, block)][row[block]];
  }
}

void CellCounts::add(const CellCounts& others) {
  for (int i = 0; i < class_count; ++i)
    for (std::uint32_t k = 0; k < token_places; ++k) {
      codes[i][k] += others.codes[i][k];
      for (const auto& part : others.parts[i]) codes[i][k] += part[k];
    }
}

std::uint64_t CellCounts::raw_bits() const {
  std::uint64_t bits = 0;
  for (const auto& of_class : codes)
    for (std::uint32_t token = 0; token < cell_tokens; ++token)
      bits += of_class[token] * raw_bits_of_any_token(token);
  return bits;
}

}  // namespace cuszi::cpu

#include "cpu_ref/cells/chains.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/base/error.hpp"
#include "core/coders/symbol_lanes.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/wide_vectors.hpp"

namespace cuszi::cpu {

namespace {

constexpr const char* damaged = "a chain of `cells` does not end as it should";

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
        run(run_of_classes(all.rank, pass, all.tiles)),
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
  std::uint32_t of(const std::uint8_t* tile, std::uint32_t block, bool is_first_tile) const {
    if (block == 0) return is_first_tile ? 0U : *(tile - tile_blocks);
    const BlockParents& parents = parents_[block];
    return (std::uint32_t{tile[parents.before]} + tile[parents.parent] + 1) / 2;
  }

 private:
  std::array<BlockParents, tile_blocks> parents_{};
};

std::vector<std::byte> encode_class_segment(const CellBlocks& all, const ClassSegment& segment,
                                            const Contexts& contexts,
                                            const std::vector<EncoderTable>& tables) {
  std::uint32_t states[most_lanes];
  std::fill(std::begin(states), std::end(states), lane_start);
  WordsBackwards words(std::size_t{segment.steps()} * most_lanes + 1);
  for (std::uint32_t step = segment.steps(); step-- > 0;) {
    const std::uint32_t block = segment.first_block + step % segment.blocks;
    for (std::uint32_t lane = segment.lanes_of_step(step); lane-- > 0;) {
      const std::uint8_t* const tile = segment.tile(all, lane, step);
      const FastShare& share = tables[contexts.of(tile, block, step < segment.blocks)][tile[block]];
      words.put(share, states[lane]);
    }
  }
  return words.segment(std::span(states).first(segment.lanes));
}

void decode_class_segment(const CellBlocks& all, const ClassSegment& segment,
                          const Contexts& contexts, const std::vector<DecoderTable>& tables,
                          Bytes bytes) {
  SegmentWords words(bytes, segment.lanes);
  for (std::uint32_t step = 0; step < segment.steps(); ++step) {
    const std::uint32_t block = segment.first_block + step % segment.blocks;
    const std::uint32_t lanes = segment.lanes_of_step(step);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      std::uint8_t* const tile = segment.tile(all, lane, step);
      const DecoderTable& table = tables[contexts.of(tile, block, step < segment.blocks)];
      tile[block] = static_cast<std::uint8_t>(words.take(table, words.states[lane]));
    }
    words.check();
  }
  words.check_end();
}

/// The blocks of a segment of codes; in each round, every lane has one.
struct CodeSegment {
  std::span<const std::uint64_t> blocks;

  CodeSegment(std::span<const std::uint64_t> live, std::uint32_t blocks_of_lane,
              std::uint64_t segment) {
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

/// Whether some codes of a block have raw bits.
bool has_raw_bits(const std::int16_t* codes) {
  std::int16_t least = 0;
  std::int16_t most = 0;
  for (int i = 0; i < cell_block_codes; ++i) {
    least = std::min(least, codes[i]);
    most = std::max(most, codes[i]);
  }
  return least < -most_small_code || most > most_small_code;
}

/// The blocks of a round, whose codes are brought to fast memory block by block: lanes are coded in
/// turns, a code of each.
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

void put_round(const CellBlocks& all, const Round& round, const std::vector<EncoderTable>& tables,
               std::uint32_t* states, WordsBackwards& words) {
  const std::size_t lanes = round.blocks.size();
  const std::int16_t* codes[most_lanes];
  std::uint8_t tokens[most_lanes][cell_block_codes];
  bool some_have_raw_bits = false;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    codes[lane] = all.codes + round.blocks[lane] * cell_block_codes;
    std::uint8_t* const own = tokens[lane];
    if (has_raw_bits(codes[lane])) {
      some_have_raw_bits = true;
      for (int i = 0; i < cell_block_codes; ++i)
        own[i] = static_cast<std::uint8_t>(token_of_code(codes[lane][i]).token);
    } else {
      for (int i = 0; i < cell_block_codes; ++i)
        own[i] = static_cast<std::uint8_t>(small_token_of(codes[lane][i]));
    }
  }
  for (int i = cell_block_codes; i-- > 0;) {
    for (std::size_t lane = some_have_raw_bits ? lanes : 0; lane-- > 0;) {
      if (tokens[lane][i] < small_tokens) continue;
      const CellToken token = token_of_code(codes[lane][i]);
      words.spill(states[lane] >> (32 - token.raw_bits) != 0, states[lane]);
      states[lane] = states[lane] << token.raw_bits | token.raw;
    }
    for (std::size_t lane = lanes; lane-- > 0;) {
      if ((round.coded[lane] >> i & 1) == 0) continue;
      words.put(tables[round.classes[lane]][tokens[lane][i]], states[lane]);
    }
  }
}

std::vector<std::byte> encode_code_segment(const CellBlocks& all, const CodeSegment& segment,
                                           const std::vector<EncoderTable>& tables) {
  std::uint32_t states[most_lanes];
  std::fill(std::begin(states), std::end(states), lane_start);
  WordsBackwards words(segment.blocks.size() * cell_block_codes * 2 + 1);
  for (std::size_t round = segment.rounds(); round-- > 0;)
    put_round(all, Round(all, segment.round(round)), tables, states, words);
  return words.segment(std::span(states).first(segment.lanes()));
}

/// Takes the raw bits of lanes whose tokens have some.
void take_raw_bits(const std::uint32_t* tokens, int i, SegmentWords& words,
                   std::int16_t (*codes)[cell_block_codes]) {
  for (std::uint32_t lane = 0; lane < most_lanes; ++lane) {
    if (tokens[lane] < small_tokens) continue;
    std::uint32_t& state = words.states[lane];
    const std::uint32_t bits = raw_bits_of_code_token(tokens[lane]);
    const std::uint32_t raw = state & ((1U << bits) - 1);
    codes[lane][i] = static_cast<std::int16_t>(code_of_token(tokens[lane], raw));
    state >>= bits;
    words.refill(state);
  }
}

/// `is_whole`: all lanes have a block, and all codes of these are coded.
template <bool is_whole>
void take_round(const CellBlocks& all, const Round& round, const std::vector<DecoderTable>& tables,
                SegmentWords& words) {
  const std::uint32_t* const entries = tables.front().data();
  std::int16_t codes[most_lanes][cell_block_codes];
  for (int i = 0; i < cell_block_codes; ++i) {
    std::uint32_t tokens[most_lanes];
    std::uint32_t largest = 0;
#pragma omp simd reduction(max : largest)
    for (std::uint32_t lane = 0; lane < most_lanes; ++lane) {
      const std::uint32_t state = words.states[lane];
      const std::uint32_t entry =
          entries[round.classes[lane] * table_probability_one + state % table_probability_one];
      const bool is_coded = is_whole || (round.coded[lane] >> i & 1) != 0;
      tokens[lane] = is_coded ? entry % token_places : 0;
      words.states[lane] = is_coded ? take_symbol(state, entry) : state;
      largest = tokens[lane] > largest ? tokens[lane] : largest;
    }
    for (std::uint32_t lane = 0; lane < most_lanes; ++lane) {
      words.refill(words.states[lane]);
      codes[lane][i] = static_cast<std::int16_t>(code_of_small_token(tokens[lane]));
    }
    if (largest >= small_tokens) take_raw_bits(tokens, i, words, codes);
    words.check();
  }
  for (std::size_t lane = 0; lane < round.blocks.size(); ++lane)
    std::copy_n(codes[lane], cell_block_codes, all.codes + round.blocks[lane] * cell_block_codes);
}

void decode_code_segment(const CellBlocks& all, const CodeSegment& segment,
                         const std::vector<DecoderTable>& tables, Bytes bytes) {
  SegmentWords words(bytes, segment.lanes());
  for (std::size_t number = 0; number < segment.rounds(); ++number) {
    const Round round(all, segment.round(number));
    with_wide_vectors([&] {
      if (round.is_whole()) {
        take_round<true>(all, round, tables, words);
      } else {
        take_round<false>(all, round, tables, words);
      }
    });
  }
  words.check_end();
}

}  // namespace

std::vector<std::uint64_t> CellBlocks::live(int pass) const {
  std::vector<std::uint64_t> numbers;
  const std::uint32_t first = first_block_of_pass(rank, pass);
  const std::uint32_t count = blocks_of_pass(rank, pass);
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    const std::uint64_t begin = tile * tile_blocks + first;
    for (std::uint64_t block = begin; block < begin + count; ++block)
      if (classes[block] != 0) numbers.push_back(block);
  }
  return numbers;
}

void CellCounts::add_block(int number, const std::int16_t* block, std::uint64_t coded) {
  codes[number][0] -= static_cast<unsigned>(cell_block_codes - std::popcount(coded));
  if (!has_raw_bits(block)) {
    for (int i = 0; i < cell_block_codes; ++i) ++parts[number][i % 4][small_token_of(block[i])];
    return;
  }
  for (int i = 0; i < cell_block_codes; ++i) {
    const CellToken token = token_of_code(block[i]);
    ++parts[number][i % 4][token.token];
    raw_bits += token.raw_bits;
  }
}

void CellCounts::add_contexts(const CellBlocks& blocks) {
  const Contexts contexts(blocks.rank);
  const std::uint32_t run = run_of_classes(blocks.rank, 0, blocks.tiles);
  for (std::uint64_t tile = 0; tile < blocks.tiles; ++tile) {
    const std::uint8_t* const row = blocks.classes + tile * tile_blocks;
    for (std::uint32_t block = 0; block < tile_blocks; ++block)
      ++classes[contexts.of(row, block, tile % run == 0)][row[block]];
  }
}

void CellCounts::add(const CellCounts& others) {
  for (int i = 0; i < class_count; ++i)
    for (std::uint32_t k = 0; k < token_places; ++k) {
      codes[i][k] += others.codes[i][k];
      for (const auto& part : others.parts[i]) codes[i][k] += part[k];
    }
  raw_bits += others.raw_bits;
}

std::vector<OwnedSection> encode_chains(const CellBlocks& blocks, int pass, const CellsHead& head) {
  const std::vector<std::uint64_t> live = blocks.live(pass);
  std::vector<OwnedSection> sections(3);
  sections[0].id = SectionId::index;
  sections[1].id = SectionId::contexts;
  sections[2].id = SectionId::codes;
  if (live.empty()) return sections;
  const Contexts contexts(blocks.rank);
  const auto class_tables = all_tables(head.tables.classes, encoder_table);
  const auto code_tables = all_tables(head.tables.codes, encoder_table);
  std::vector<std::vector<std::byte>> of_classes(class_segments(blocks.rank, pass, blocks.tiles));
  const std::uint32_t blocks_of_lane =
      blocks_of_lane_in(blocks.rank, pass, blocks.tiles, head.blocks_of_lane);
  std::vector<std::vector<std::byte>> of_codes(code_segments(live.size(), blocks_of_lane));
  parallel_for(of_classes.size() + of_codes.size(), [&](std::uint64_t i) {
    if (i < of_classes.size()) {
      of_classes[i] =
          encode_class_segment(blocks, ClassSegment(blocks, pass, i), contexts, class_tables);
    } else {
      i -= of_classes.size();
      of_codes[i] = encode_code_segment(blocks, CodeSegment(live, blocks_of_lane, i), code_tables);
    }
  });
  for (const auto& segment : of_classes)
    append_segment(segment, sections[0].bytes, sections[1].bytes);
  for (const auto& segment : of_codes)
    append_segment(segment, sections[0].bytes, sections[2].bytes);
  return sections;
}

void decode_chains(const CellBlocks& blocks, int pass, const CellsHead& head,
                   const Sections& sections) {
  const Bytes index = sections.find(SectionId::index);
  const std::uint64_t of_classes = class_segments(blocks.rank, pass, blocks.tiles);
  if (index.empty()) {
    if (sections.has(SectionId::contexts) || sections.has(SectionId::codes))
      throw ArchiveError(damaged);
    const std::uint32_t first = first_block_of_pass(blocks.rank, pass);
    for (std::uint64_t tile = 0; tile < blocks.tiles; ++tile)
      std::fill_n(blocks.classes + tile * tile_blocks + first, blocks_of_pass(blocks.rank, pass),
                  std::uint8_t{0});
    return;
  }
  if (index.size() < 4 * of_classes) throw ArchiveError(damaged);
  const Contexts contexts(blocks.rank);
  const auto class_bytes = cut_segments(index, 0, of_classes, sections.find(SectionId::contexts));
  const auto class_tables = all_tables(head.tables.classes, decoder_table);
  parallel_for(of_classes, [&](std::uint64_t i) {
    decode_class_segment(blocks, ClassSegment(blocks, pass, i), contexts, class_tables,
                         class_bytes[i]);
  });
  const std::vector<std::uint64_t> live = blocks.live(pass);
  const std::uint32_t blocks_of_lane =
      blocks_of_lane_in(blocks.rank, pass, blocks.tiles, head.blocks_of_lane);
  const std::uint64_t of_codes = code_segments(live.size(), blocks_of_lane);
  if (index.size() != 4 * (of_classes + of_codes)) throw ArchiveError(damaged);
  const auto code_bytes =
      cut_segments(index, of_classes, of_codes, sections.find(SectionId::codes));
  const auto code_tables = all_tables(head.tables.codes, decoder_table);
  parallel_for(of_codes, [&](std::uint64_t i) {
    decode_code_segment(blocks, CodeSegment(live, blocks_of_lane, i), code_tables, code_bytes[i]);
  });
}

}  // namespace cuszi::cpu

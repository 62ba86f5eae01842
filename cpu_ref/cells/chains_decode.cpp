#include <algorithm>
#include <cstdlib>

#include "core/base/error.hpp"
#include "core/coders/symbol_lanes.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/transpose.hpp"
#include "cpu_ref/base/wide_vectors.hpp"
#include "cpu_ref/cells/lane_words.hpp"
#include "cpu_ref/cells/segments.hpp"

namespace cuszi::cpu {

namespace {

/// `carried`: of the lanes of the segment.
void decode_class_segment(const CellBlocks& all, const ClassSegment& segment,
                          const Contexts& contexts, const std::vector<DecoderTable>& tables,
                          Bytes bytes, std::uint16_t* carried) {
  SegmentWords words(bytes, segment.lanes);
  for (std::uint32_t step = 0; step < segment.steps(); ++step) {
    const std::uint32_t block = segment.first_block + step % segment.blocks;
    const std::uint32_t lanes = segment.lanes_of_step(step);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      std::uint8_t* const tile = segment.tile(all, lane, step);
      const DecoderTable& table = tables[contexts.of(tile, block)];
      tile[block] = static_cast<std::uint8_t>(words.take(table, words.states[lane]));
    }
    words.check();
  }
  for (std::uint32_t lane = 0; lane < segment.lanes; ++lane)
    carried[lane] = words.take_carried(lane);
  words.check_end();
}

/// The codes of a round, a row for each turn of the lanes.
using RoundCodes = std::int16_t[cell_block_codes][most_lanes];

/// Takes the raw bits of lanes whose tokens have some.
template <class V>
void take_raw_bits(const std::uint32_t* tokens, SegmentWords& words, std::int16_t* codes) {
  LaneFlags low;
#pragma omp simd
  for (std::uint32_t lane = 0; lane < most_lanes; ++lane) {
    const std::uint32_t token = tokens[lane];
    const bool is_large = token >= small_tokens;
    const std::uint32_t state = words.states[lane];
    const std::uint32_t bits = raw_bits_of_any_token(token);
    const std::uint32_t raw = state & ((1U << bits) - 1);
    const std::uint32_t next = state >> bits;
    codes[lane] =
        static_cast<std::int16_t>(is_large ? code_of_token(token, raw) : int{codes[lane]});
    words.states[lane] = next;
    low[lane] = is_large && needs_refill(next) ? 1 : 0;
  }
  words.refill_lanes<LaneWords<V>>(low);
}

/// `is_whole`: all lanes have a block, and all codes of these are coded. `carries`: some lanes have
/// codes whose signs are carried; these come out positive. `carried` counts them.
template <class V, bool is_whole, bool carries>
void take_round(const CellBlocks& all, const Round& round, const std::vector<DecoderTable>& tables,
                std::uint32_t* carried, SegmentWords& words) {
  const std::uint32_t* const entries = tables.front().data();
  RoundCodes codes;
  for (int i = 0; i < cell_block_codes; ++i) {
    std::uint32_t tokens[most_lanes];
    LaneFlags low;
    LaneFlags large;
#pragma omp simd
    for (std::uint32_t lane = 0; lane < most_lanes; ++lane) {
      const std::uint32_t state = words.states[lane];
      const std::uint32_t entry =
          entries[round.classes[lane] * table_probability_one + state % table_probability_one];
      const bool is_coded = is_whole || (round.coded[lane] >> i & 1) != 0;
      std::uint32_t token = is_coded ? entry % token_places : 0;
      std::uint32_t next = is_coded ? take_symbol(state, entry) : state;
      if constexpr (carries) {  // in integers, which compilers make vectors of
        const std::uint32_t is_small = has_small_sign(token) ? 1 : 0;
        const std::uint32_t is_pair = carried[lane] < most_carried_signs ? is_small : 0;
        next += is_pair * added_by_pair(state, entry >> 6 & 0xFFFU, token % 2 ^ 1);
        token = is_pair != 0 ? positive_token(token) : token;
        carried[lane] += is_pair;
      }
      tokens[lane] = token;
      words.states[lane] = next;
      low[lane] = needs_refill(next) ? 1 : 0;
      large[lane] = token >= small_tokens ? 1 : 0;
      codes[i][lane] = static_cast<std::int16_t>(code_of_small_token(token));
    }
    words.refill_lanes<LaneWords<V>>(low);
    if (lanes_of(large) != 0) take_raw_bits<V>(tokens, words, codes[i]);
    words.check();
  }
  std::int16_t of_lanes[most_lanes][cell_block_codes];
  transpose(codes, of_lanes);
  for (std::size_t lane = 0; lane < round.blocks.size(); ++lane)
    std::copy_n(of_lanes[lane], cell_block_codes,
                all.codes + round.blocks[lane] * cell_block_codes);
}

/// Gives codes the signs that the last states carry.
void take_signs(const CellBlocks& all, const CodeSegment& segment, const std::uint32_t* carried,
                SegmentWords& words) {
  for (std::size_t lane = 0; lane < segment.lanes(); ++lane) {
    std::uint32_t bits = words.states[lane] - lane_start;
    if (bits >> carried[lane] != 0) throw ArchiveError(cells_damage);
    words.states[lane] = lane_start;
    std::uint32_t left = carried[lane];
    for (std::size_t i = lane; left > 0; i += most_lanes) {
      std::int16_t* const codes = all.codes + segment.blocks[i] * cell_block_codes;
      for (std::size_t k = 0; k < cell_block_codes && left > 0; ++k) {
        if (codes[k] == 0 || std::abs(codes[k]) > most_small_code) continue;
        if ((bits & 1) != 0) codes[k] = static_cast<std::int16_t>(-codes[k]);
        bits >>= 1;
        --left;
      }
    }
  }
}

void decode_code_segment(const CellBlocks& all, const CodeSegment& segment,
                         const std::vector<DecoderTable>& tables, Bytes bytes) {
  SegmentWords words(bytes, segment.lanes());
  std::uint32_t carried[most_lanes] = {};
  for (std::size_t number = 0; number < segment.rounds(); ++number) {
    const Round round(all, segment.round(number));
    const bool carries = number < segment.carrying_rounds &&
                         std::any_of(carried, carried + segment.lanes(),
                                     [](auto count) { return count < most_carried_signs; });
    with_vectors([&]<class V>(V) {
      if (carries) {
        take_round<V, false, true>(all, round, tables, carried, words);
      } else if (round.is_whole()) {
        take_round<V, true, false>(all, round, tables, carried, words);
      } else {
        take_round<V, false, false>(all, round, tables, carried, words);
      }
    });
  }
  take_signs(all, segment, carried, words);
  words.check_end();
}

}  // namespace

void decode_chains(const CellBlocks& blocks, int pass, const CellsHead& head,
                   const Sections& sections) {
  const Bytes index = sections.find(SectionId::index);
  const std::uint64_t of_classes = class_segments(blocks.rank, pass, blocks.tiles);
  if (index.empty()) {
    if (sections.has(SectionId::contexts) || sections.has(SectionId::codes))
      throw ArchiveError(cells_damage);
    const std::uint32_t first = first_block_of_pass(blocks.rank, pass);
    for (std::uint64_t tile = 0; tile < blocks.tiles; ++tile)
      std::fill_n(blocks.classes + tile * tile_blocks + first, blocks_of_pass(blocks.rank, pass),
                  std::uint8_t{0});
    return;
  }
  if (index.size() < 4 * of_classes) throw ArchiveError(cells_damage);
  const Contexts contexts(blocks.rank);
  Bytes lists = sections.find(SectionId::contexts);
  const auto class_bytes = cut_first_segments(index, 0, of_classes, lists);
  const auto class_tables = all_tables(head.tables.classes, decoder_table);
  std::vector<std::uint16_t> carried(all_class_lanes(blocks.rank, pass, blocks.tiles));
  parallel_for(of_classes, [&](std::uint64_t i) {
    decode_class_segment(blocks, ClassSegment(blocks, pass, i), contexts, class_tables,
                         class_bytes[i], carried.data() + i * most_lanes);
  });
  const LiveBlocks live = blocks.live(pass);
  unpack_lists(blocks, live.sparse, std::move(carried), lists);
  const std::uint32_t blocks_of_lane =
      blocks_of_lane_in(blocks.rank, pass, blocks.tiles, head.blocks_of_lane);
  const std::uint64_t of_codes = code_segments(live.coded.size(), blocks_of_lane);
  if (index.size() != 4 * (of_classes + of_codes)) throw ArchiveError(cells_damage);
  const auto code_bytes =
      cut_segments(index, of_classes, of_codes, sections.find(SectionId::codes));
  const auto code_tables = all_tables(head.tables.codes, decoder_table);
  parallel_for(of_codes, [&](std::uint64_t i) {
    decode_code_segment(blocks, CodeSegment(live.coded, blocks_of_lane, i), code_tables,
                        code_bytes[i]);
  });
}

}  // namespace cuszi::cpu

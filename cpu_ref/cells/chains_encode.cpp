#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/coders/symbol_lanes.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/prefetch.hpp"
#include "cpu_ref/base/transpose.hpp"
#include "cpu_ref/base/wide_vectors.hpp"
#include "cpu_ref/cells/lane_words.hpp"
#include "cpu_ref/cells/segments.hpp"

namespace cuszi::cpu {

namespace {

/// `carried`: a word of each lane; lanes behind its end carry 0.
std::vector<std::byte> encode_class_segment(const CellBlocks& all, const ClassSegment& segment,
                                            const Contexts& contexts,
                                            const std::vector<EncoderTable>& tables,
                                            std::span<const std::uint16_t> carried) {
  std::uint32_t states[most_lanes];
  for (std::size_t lane = 0; lane < most_lanes; ++lane)
    states[lane] = lane_start + (lane < carried.size() ? carried[lane] : 0);
  WordsBackwards words(std::size_t{segment.steps()} * most_lanes + 1);
  for (std::uint32_t step = segment.steps(); step-- > 0;) {
    const std::uint32_t block = segment.first_block + step % segment.blocks;
    for (std::uint32_t lane = segment.lanes_of_step(step); lane-- > 0;) {
      const std::uint8_t* const tile = segment.tile(all, lane, step);
      const PackedSymbolShare& share = tables[contexts.of(tile, block)][tile[block]];
      words.put(share, states[lane]);
    }
  }
  return words.segment(std::span(states).first(segment.lanes));
}

/// Asks for the codes of a round, which processors may not foresee.
void prefetch_codes(const CellBlocks& all, std::span<const std::uint64_t> blocks) {
  for (const std::uint64_t block : blocks) {
    const std::int16_t* const codes = all.codes + block * cell_block_codes;
    prefetch(codes);
    prefetch(codes + cell_block_codes / 2);
  }
}

/// The signs that the lanes of a segment carry.
struct CarriedSigns {
  std::uint32_t bits[most_lanes] = {};
  std::size_t end[most_lanes] = {};  ///< how many codes of a lane have them

  CarriedSigns(const CellBlocks& all, const CodeSegment& segment) {
    const std::size_t blocks =
        std::min(segment.blocks.size(), segment.carrying_rounds * most_lanes);
    for (std::size_t lane = 0; lane < segment.lanes(); ++lane) {
      std::uint32_t count = 0;
      for (std::size_t i = lane; i < blocks; i += most_lanes) {
        if (count == most_carried_signs) break;
        const std::int16_t* const codes = all.codes + segment.blocks[i] * cell_block_codes;
        for (std::size_t k = 0; k < cell_block_codes && count < most_carried_signs; ++k) {
          if (codes[k] == 0 || std::abs(codes[k]) > most_small_code) continue;
          bits[lane] |= (codes[k] < 0 ? 1U : 0U) << count++;
          end[lane] = i / most_lanes * cell_block_codes + k + 1;
        }
      }
    }
  }
};

/// The shares of all tokens, for lanes that put symbols of several classes at once: by class and
/// token; then those of pairs, by the token that is positive; then one that changes no state.
class LaneShares {
 public:
  static constexpr std::uint32_t pairs = class_count * token_places;
  static constexpr std::uint32_t none = 2 * pairs;

  explicit LaneShares(const SymbolTable (&tables)[class_count]) {
    for (std::uint32_t kind = 0; kind < class_count; ++kind) {
      std::uint32_t first = 0;
      for (std::uint32_t token = 0; token < token_places; ++token) {
        const std::uint32_t frequency = tables[kind].frequencies[token];
        const std::uint32_t at = kind * token_places + token;
        const auto share = PackedSymbolShare::of({frequency, first});
        set(at, share);
        set(at + pairs, share.of_pair());
        first += frequency;
      }
    }
    set(none, {});
  }

  /// Puts a symbol of every lane, by its index. Lanes whose states spill leave their low halves in
  /// `spilled`.
  void put(const std::uint16_t* indices, std::uint32_t* states, LaneFlags& spills,
           std::uint16_t* spilled) const {
#pragma omp simd
    for (std::uint32_t lane = 0; lane < most_lanes; ++lane) {
      const PackedSymbolShare share{reciprocals_[indices[lane]], bits_[indices[lane]]};
      const std::uint32_t state = states[lane];
      const bool has_no_room = share.spills(state);
      spilled[lane] = static_cast<std::uint16_t>(state);
      spills[lane] = has_no_room ? 1 : 0;
      states[lane] = share.put(has_no_room ? state >> 16 : state);
    }
  }

 private:
  void set(std::uint32_t at, const PackedSymbolShare& share) {
    reciprocals_[at] = share.reciprocal;
    bits_[at] = share.bits;
  }

  // Apart, as vectors gather them.
  std::array<std::uint32_t, none + 1> reciprocals_;
  std::array<std::uint32_t, none + 1> bits_;
};

/// The symbols of a round, a row for each turn of the lanes.
struct RoundSymbols {
  std::uint16_t indices[cell_block_codes][most_lanes];  ///< in LaneShares
  std::uint16_t raws[cell_block_codes][most_lanes];     ///< if any code has raw bits
  bool has_raws = false;

  /// `first`: of the round's codes of a lane.
  RoundSymbols(const CellBlocks& all, const Round& round, std::size_t first,
               const CarriedSigns& signs) {
    std::uint16_t indices_of[most_lanes][cell_block_codes];
    std::uint16_t raws_of[most_lanes][cell_block_codes];
    for (std::size_t lane = 0; lane < most_lanes; ++lane) {
      if (lane < round.blocks.size()) {
        const std::size_t carried = signs.end[lane] - std::min(first, signs.end[lane]);
        add_lane(all.codes + round.blocks[lane] * cell_block_codes, round.classes[lane],
                 round.coded[lane], carried, indices_of[lane], raws_of[lane]);
      } else {
        std::fill_n(indices_of[lane], cell_block_codes, LaneShares::none);
        std::fill_n(raws_of[lane], cell_block_codes, std::uint16_t{0});
      }
    }
    transpose(indices_of, indices);
    if (has_raws) transpose(raws_of, raws);
  }

 private:
  /// The first `carried` codes may have signs that are carried.
  void add_lane(const std::int16_t* codes, std::uint32_t kind, std::uint64_t coded,
                std::size_t carried, std::uint16_t* own, std::uint16_t* own_raws) {
    const int largest = largest_magnitude(codes);
    tokens_of_block(codes, largest, own, own_raws);
    has_raws |= largest > most_small_code;
    const std::uint32_t base = kind * token_places;
    for (std::size_t i = 0; i < std::min<std::size_t>(carried, cell_block_codes); ++i) {
      if (has_small_sign(own[i]))
        own[i] = static_cast<std::uint16_t>(LaneShares::pairs + positive_token(own[i]));
    }
    for (std::size_t i = 0; i < cell_block_codes; ++i)
      own[i] = static_cast<std::uint16_t>((coded >> i & 1) != 0 ? base + own[i] : LaneShares::none);
  }
};

/// Puts the raw bits of the lanes whose symbols have some, from the last to the first.
template <class V>
void put_raw_bits(const std::uint16_t* indices, const std::uint16_t* raws, std::uint32_t* states,
                  WordsBackwards& words) {
  LaneFlags spills;
  std::uint16_t spilled[most_lanes];
#pragma omp simd
  for (std::uint32_t lane = 0; lane < most_lanes; ++lane) {
    const std::uint32_t token = indices[lane] % token_places;
    const std::uint32_t bits = raw_bits_of_any_token(token);
    const std::uint32_t state = states[lane];
    const bool has_no_room = state >> 1 >> (31 - bits) != 0;
    spilled[lane] = static_cast<std::uint16_t>(state);
    spills[lane] = has_no_room ? 1 : 0;
    states[lane] = (has_no_room ? state >> 16 : state) << bits | raws[lane];
  }
  words.put<LaneWords<V>>(spills, spilled);
}

template <class V>
void put_round(const RoundSymbols& symbols, const LaneShares& shares, std::uint32_t* states,
               WordsBackwards& words) {
  LaneFlags spills;
  std::uint16_t spilled[most_lanes];
  for (std::size_t i = cell_block_codes; i-- > 0;) {
    if (symbols.has_raws) put_raw_bits<V>(symbols.indices[i], symbols.raws[i], states, words);
    shares.put(symbols.indices[i], states, spills, spilled);
    words.put<LaneWords<V>>(spills, spilled);
  }
}

std::vector<std::byte> encode_code_segment(const CellBlocks& all, const CodeSegment& segment,
                                           const LaneShares& shares) {
  prefetch_codes(all, segment.round(0));
  const CarriedSigns signs(all, segment);
  std::uint32_t states[most_lanes];
  for (std::size_t lane = 0; lane < most_lanes; ++lane)
    states[lane] = lane_start + signs.bits[lane];
  WordsBackwards words(segment.blocks.size() * cell_block_codes * 2 + 1);
  for (std::size_t number = segment.rounds(); number-- > 0;) {
    if (number > 0) prefetch_codes(all, segment.round(number - 1));
    const Round round(all, segment.round(number));
    with_vectors([&]<class V>(V) {
      put_round<V>(RoundSymbols(all, round, number * cell_block_codes, signs), shares, states,
                   words);
    });
  }
  return words.segment(std::span(states).first(segment.lanes()));
}

}  // namespace

std::vector<OwnedSection> encode_chains(const CellBlocks& blocks, int pass, const CellsHead& head) {
  const LiveBlocks live = blocks.live(pass);
  std::vector<OwnedSection> sections(3);
  sections[0].id = SectionId::index;
  sections[1].id = SectionId::contexts;
  sections[2].id = SectionId::codes;
  if (live.empty()) return sections;
  const Contexts contexts(blocks.rank);
  const auto class_tables = all_tables(head.tables.classes, encoder_table);
  const LaneShares code_shares(head.tables.codes);
  const std::vector<std::uint16_t> lists = pack_lists(blocks, live.sparse);
  std::vector<std::vector<std::byte>> of_classes(class_segments(blocks.rank, pass, blocks.tiles));
  const std::uint32_t blocks_of_lane =
      blocks_of_lane_in(blocks.rank, pass, blocks.tiles, head.blocks_of_lane);
  std::vector<std::vector<std::byte>> of_codes(code_segments(live.coded.size(), blocks_of_lane));
  parallel_for(of_classes.size() + of_codes.size(), [&](std::uint64_t i) {
    if (i < of_classes.size()) {
      const auto carried =
          std::span(lists).subspan(std::min<std::size_t>(i * most_lanes, lists.size()));
      of_classes[i] = encode_class_segment(blocks, ClassSegment(blocks, pass, i), contexts,
                                           class_tables, carried);
    } else {
      i -= of_classes.size();
      of_codes[i] =
          encode_code_segment(blocks, CodeSegment(live.coded, blocks_of_lane, i), code_shares);
    }
  });
  for (const auto& segment : of_classes)
    append_segment(segment, sections[0].bytes, sections[1].bytes);
  const std::uint64_t lanes = all_class_lanes(blocks.rank, pass, blocks.tiles);
  const Bytes left =
      std::as_bytes(std::span(lists).subspan(std::min<std::size_t>(lanes, lists.size())));
  sections[1].bytes.insert(sections[1].bytes.end(), left.begin(), left.end());
  sections[1].bytes.resize(ceil_div(sections[1].bytes.size(), 4) * 4);
  for (const auto& segment : of_codes)
    append_segment(segment, sections[0].bytes, sections[2].bytes);
  return sections;
}

}  // namespace cuszi::cpu

#include "cpu_ref/cells/chains.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "core/base/error.hpp"
#include "core/cells/sparse_block.hpp"
#include "core/coders/symbol_lanes.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/prefetch.hpp"
#include "cpu_ref/base/transpose.hpp"
#include "cpu_ref/base/wide_vectors.hpp"
#include "cpu_ref/cells/lane_words.hpp"

namespace cuszi::cpu {

namespace {

/// Codes of blocks up to this magnitude are counted by vectors, the others one by one.
constexpr int most_counted_at_once = 6;

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
        run(run_of_classes(all.rank, pass)),
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
  std::uint32_t of(const std::uint8_t* tile, std::uint32_t block) const {
    return block == 0 ? coarse_context : context_of_parents(tile, parents_[block]);
  }

 private:
  std::array<BlockParents, tile_blocks> parents_{};
};

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

/// The blocks of a segment of codes; in each round, every lane has one.
struct CodeSegment {
  std::span<const std::uint64_t> blocks;
  std::size_t carrying_rounds;

  CodeSegment(std::span<const std::uint64_t> live, std::uint32_t blocks_of_lane,
              std::uint64_t segment)
      : carrying_rounds(carrying_blocks(blocks_of_lane)) {
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

/// The largest magnitude among the codes of a block.
int largest_magnitude(const std::int16_t* codes) {
  std::int16_t least = 0;
  std::int16_t most = 0;
  for (int i = 0; i < cell_block_codes; ++i) {
    least = std::min(least, codes[i]);
    most = std::max(most, codes[i]);
  }
  return std::max(-least, int{most});
}
/// The tokens of the codes of a block, given its largest magnitude, and their raw bits.
void tokens_of_block(const std::int16_t* codes, int largest, std::uint16_t* tokens,
                     std::uint16_t* raws) {
  if (largest <= most_small_code) {
    for (int i = 0; i < cell_block_codes; ++i)
      tokens[i] = static_cast<std::uint16_t>(small_token_of(codes[i]));
    std::fill_n(raws, cell_block_codes, std::uint16_t{0});
    return;
  }
#pragma omp simd
  for (int i = 0; i < cell_block_codes; ++i) {
    const CellToken token = token_of_code(codes[i]);
    tokens[i] = static_cast<std::uint16_t>(token.token);
    raws[i] = static_cast<std::uint16_t>(token.raw);
  }
}

/// How many codes of a block have this magnitude.
unsigned count_of_magnitude(const std::int16_t* codes, int magnitude) {
  const auto positive = static_cast<std::int16_t>(magnitude);
  const auto negative = static_cast<std::int16_t>(-magnitude);
  std::uint16_t count = 0;
  for (int i = 0; i < cell_block_codes; ++i)
    count = static_cast<std::uint16_t>(count + (codes[i] == positive || codes[i] == negative));
  return count;
}

/// The blocks of a round: lanes are coded in turns, a code of each.
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

LiveBlocks CellBlocks::live(int pass) const {
  LiveBlocks live;
  const std::uint32_t first = first_block_of_pass(rank, pass);
  const std::uint32_t count = blocks_of_pass(rank, pass);
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    const std::uint64_t begin = tile * tile_blocks + first;
    for (std::uint64_t block = begin; block < begin + count; ++block) {
      if (classes[block] == 0) continue;
      const bool is_sparse = is_sparse_block(classes[block], coded_of(block));
      (is_sparse ? live.sparse : live.coded).push_back(block);
    }
  }
  return live;
}

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

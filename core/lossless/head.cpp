#include "core/lossless/head.hpp"

#include <algorithm>
#include <bit>

#include "core/base/bits.hpp"
#include "core/base/error.hpp"

namespace cuszi {

namespace {

constexpr int symbol_bits = 6;
constexpr int order_bits = 2;
constexpr int scale_bits = 11;
constexpr std::uint64_t most_chunk_points = std::uint64_t{1} << 20;

/// Tokens of differences that fall off from 0. Above a class, the octaves relative to it are alike.
SymbolTable default_tokens(std::uint32_t number) {
  constexpr unsigned last_own_class = 12;
  const unsigned octave = octave_of_class(number);
  const unsigned model = std::min(octave, last_own_class);
  const FallingCodes falling(2 * word_block, 3 * (std::uint64_t{1} << model) / 2);
  std::uint64_t weights[token_places] = {};
  for (std::uint32_t token = 0; token < token_places; ++token) {
    if (!form_of_token(token, octave).exists) continue;
    weights[token] = 1;
    const WordTokenForm form = form_of_token(token, model);
    if (!form.exists) continue;
    const std::uint64_t count = std::uint64_t{1} << form.raw_bits;
    const std::uint64_t span = form.has_sign ? count : count / 2;
    weights[token] += falling.share_of(static_cast<std::uint32_t>(form.least + span / 2)) * count;
  }
  SymbolTable table{{}, 0, true};
  fit_frequencies(weights, false, table.frequencies);
  return table;
}

/// Classes near the one before are likely.
SymbolTable default_classes(std::uint32_t before) {
  std::uint64_t weights[token_places] = {};
  for (std::uint32_t number = 0; number < word_classes; ++number) {
    const std::uint32_t distance = number > before ? number - before : before - number;
    std::uint64_t weight = 1U << 20;
    for (std::uint32_t i = 0; i < distance; ++i) weight = weight / 4;
    weights[number] = weight + 1;
  }
  SymbolTable table{{}, 0, true};
  fit_frequencies(weights, false, table.frequencies);
  return table;
}

/// Calls f(table, its default) for those that a head tells of.
template <class Tables, class F>
void for_each_table(Tables& tables, std::uint32_t least, std::uint32_t largest, const F& f) {
  const WordTables& defaults = default_word_tables();
  for (std::uint32_t i = least; i <= largest; ++i) f(tables.tokens[i], defaults.tokens[i]);
  f(tables.classes[0], defaults.classes[0]);
  for (std::uint32_t i = least; i <= largest; ++i) f(tables.classes[i], defaults.classes[i]);
}

}  // namespace

const WordTables& default_word_tables() {
  static const WordTables tables = [] {
    WordTables made{};
    made.tokens[0].is_default = true;
    for (std::uint32_t i = 0; i < word_classes; ++i) {
      if (i > 0) made.tokens[i] = default_tokens(i);
      made.classes[i] = default_classes(i);
    }
    return made;
  }();
  return tables;
}

std::uint32_t choose_blocks_of_token_lane(std::uint64_t live_blocks, std::uint64_t bits) {
  constexpr std::uint64_t wanted_bits = 16384;
  constexpr std::uint32_t most = fewest_blocks_of_token_lane << ((1U << token_lane_bits) - 1);
  std::uint32_t blocks = fewest_blocks_of_token_lane;
  while (blocks < most && blocks * bits < wanted_bits * live_blocks) blocks *= 2;
  return blocks;
}

template <class Word>
std::vector<std::byte> WordHead<Word>::write() const {
  BitWriter out;
  out.put(static_cast<std::uint64_t>(map.order), order_bits);
  out.put(static_cast<std::uint64_t>(map.scale), scale_bits);
  out.put(map.base, WordMap<Word>::digits);
  if (map.order == WordOrder::integers) out.put(map.factor, WordMap<Word>::digits);
  for (const std::uint8_t order : orders) out.put(order, order_bits);
  for (const std::uint64_t extent : chunk) put_gamma(static_cast<std::uint32_t>(extent), out);
  const std::uint32_t lanes = blocks_of_lane / fewest_blocks_of_token_lane;
  out.put(static_cast<std::uint64_t>(std::countr_zero(lanes)), token_lane_bits);
  std::uint32_t least = 1;
  std::uint32_t largest = word_classes - 1;
  const auto is_default = [&](std::uint32_t i) {
    return tables.tokens[i].is_default && tables.classes[i].is_default;
  };
  while (largest > 0 && is_default(largest)) --largest;
  while (least < largest && is_default(least)) ++least;
  out.put(least, symbol_bits);
  out.put(largest, symbol_bits);
  for_each_table(tables, least, largest, [&](const SymbolTable& table, const SymbolTable&) {
    write_table(table, false, out);
  });
  return out.take();
}

template <class Word>
WordHead<Word> WordHead<Word>::read(Bytes bytes, const Extents3& extents) {
  BitReader in(bytes, "the tables of a predicted frame");
  WordHead head{};
  head.map.order = static_cast<WordOrder>(in.get(order_bits));
  head.map.scale = static_cast<int>(in.get(scale_bits));
  head.map.base = static_cast<Word>(in.get(WordMap<Word>::digits));
  if (head.map.order == WordOrder::integers)
    head.map.factor = static_cast<Word>(in.get(WordMap<Word>::digits));
  if (!head.map.is_possible()) throw ArchiveError("the words of a predicted frame are impossible");
  for (std::uint8_t& order : head.orders) {
    order = static_cast<std::uint8_t>(in.get(order_bits));
    if (order > most_order) throw ArchiveError("a predicted frame has differences of order 3");
  }
  const Extents3 block = WordGrid::block_of_rank(rank_of(extents));
  std::uint64_t points = 1;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const std::uint64_t extent = get_gamma(in);
    if (extent == 0 || extent % block[axis] != 0 || extent > most_chunk_points / points)
      throw ArchiveError("a chunk of a predicted frame is empty, cuts blocks or is too large");
    points *= extent;
    head.chunk[axis] = extent;
  }
  head.blocks_of_lane = fewest_blocks_of_token_lane << in.get(token_lane_bits);
  const auto least = static_cast<std::uint32_t>(in.get(symbol_bits));
  const auto largest = static_cast<std::uint32_t>(in.get(symbol_bits));
  if (least == 0) throw ArchiveError("class 0 of a predicted frame has no tokens");
  head.tables = default_word_tables();
  for_each_table(head.tables, least, largest, [&](SymbolTable& table, const SymbolTable& usual) {
    table = read_table(in, usual, false, token_places);
  });
  in.expect_end();
  return head;
}

template struct WordHead<std::uint32_t>;
template struct WordHead<std::uint64_t>;

}  // namespace cuszi

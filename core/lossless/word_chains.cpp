#include "core/lossless/word_chains.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/coders/symbol_lanes.hpp"
#include "core/lossless/raw_bits.hpp"

namespace cuszi {

namespace {

/// Runs of blocks whose classes are coded together; the last may be shorter.
struct ClassSegment {
  std::uint64_t first;
  std::uint32_t lanes;
  std::uint64_t steps;
  std::uint64_t last_steps;  ///< of the last lane

  static std::uint64_t count(std::uint64_t blocks) {
    return ceil_div(blocks, most_lanes * blocks_of_class_lane);
  }
  ClassSegment(std::uint64_t blocks, std::uint64_t number)
      : first(number * most_lanes * blocks_of_class_lane) {
    const std::uint64_t own = std::min(blocks - first, most_lanes * blocks_of_class_lane);
    lanes = static_cast<std::uint32_t>(ceil_div(own, blocks_of_class_lane));
    last_steps = own - (lanes - 1) * blocks_of_class_lane;
    steps = lanes == 1 ? last_steps : blocks_of_class_lane;
  }
  std::uint32_t lanes_of_step(std::uint64_t step) const {
    return step < last_steps ? lanes : lanes - 1;
  }
  std::uint64_t block(std::uint32_t lane, std::uint64_t step) const {
    return first + lane * blocks_of_class_lane + step;
  }
};

/// The class before in the run of a block.
std::uint32_t class_before(const std::vector<std::uint8_t>& classes, std::uint64_t block) {
  return block % blocks_of_class_lane == 0 ? 0 : classes[block - 1];
}

std::vector<std::byte> encode_classes(const std::vector<std::uint8_t>& classes,
                                      const ClassSegment& segment,
                                      const std::vector<EncoderTable>& tables) {
  std::array<std::uint32_t, most_lanes> states;
  states.fill(lane_start);
  WordsBackwards words(segment.steps * most_lanes + 1);
  for (std::uint64_t step = segment.steps; step-- > 0;) {
    for (std::uint32_t lane = segment.lanes_of_step(step); lane-- > 0;) {
      const std::uint64_t block = segment.block(lane, step);
      words.put(tables[class_before(classes, block)][classes[block]], states[lane]);
    }
  }
  return words.segment(std::span(states).first(segment.lanes));
}

void decode_classes(std::vector<std::uint8_t>& classes, const ClassSegment& segment,
                    const std::vector<DecoderTable>& tables, Bytes bytes) {
  SegmentWords words(bytes, segment.lanes);
  for (std::uint64_t step = 0; step < segment.steps; ++step) {
    for (std::uint32_t lane = 0; lane < segment.lanes_of_step(step); ++lane) {
      const std::uint64_t block = segment.block(lane, step);
      classes[block] = static_cast<std::uint8_t>(
          words.take(tables[class_before(classes, block)], words.states[lane]));
    }
    words.check();
  }
  words.check_end();
}

/// A round of the blocks of a segment, one a lane.
using Round = std::span<const std::uint64_t>;

Round segment_of(Round live, std::uint32_t blocks_of_lane, std::uint64_t number) {
  const std::uint64_t size = std::uint64_t{most_lanes} * blocks_of_lane;
  return live.subspan(number * size, std::min<std::uint64_t>(size, live.size() - number * size));
}
Round round_of(Round segment, std::size_t number) {
  const std::size_t first = number * most_lanes;
  return segment.subspan(first, std::min<std::size_t>(most_lanes, segment.size() - first));
}
std::uint32_t lanes_of_segment(Round segment) {
  return static_cast<std::uint32_t>(round_of(segment, 0).size());
}

template <class Word>
struct TokenSegment {
  std::vector<std::byte> tokens;
  std::vector<std::byte> raw;

  TokenSegment(const WordBlocks<Word>& all, Round segment,
               const std::vector<EncoderTable>& tables) {
    std::vector<std::uint8_t> symbols(segment.size() * word_block);
    RawBitsWriter bits;
    for (std::size_t i = 0; i < segment.size(); ++i) {
      const unsigned octave = octave_of_class(all.classes[segment[i]]);
      const Word* const words = all.words.data() + all.first[segment[i]];
      for (std::uint32_t k = 0; k < all.points_of(segment[i]); ++k) {
        const WordToken token =
            token_of_word(magnitude_of_word(words[k]), is_negative(words[k]), octave);
        symbols[i * word_block + k] = static_cast<std::uint8_t>(token.token);
        bits.put(token.raw, token.raw_bits);
      }
    }
    raw = bits.take();
    std::array<std::uint32_t, most_lanes> states;
    states.fill(lane_start);
    WordsBackwards words(symbols.size() + 1);
    for (std::size_t round = ceil_div(segment.size(), most_lanes); round-- > 0;)
      put_round(all, round_of(segment, round), tables, &symbols[round * most_lanes * word_block],
                states.data(), words);
    tokens = words.segment(std::span(states).first(lanes_of_segment(segment)));
  }

 private:
  static void put_round(const WordBlocks<Word>& all, Round blocks,
                        const std::vector<EncoderTable>& tables, const std::uint8_t* symbols,
                        std::uint32_t* states, WordsBackwards& words) {
    const PackedSymbolShare* shares[most_lanes];
    std::uint32_t points[most_lanes];
    for (std::size_t lane = 0; lane < blocks.size(); ++lane) {
      shares[lane] = tables[all.classes[blocks[lane]]].data();
      points[lane] = all.points_of(blocks[lane]);
    }
    for (std::uint32_t i = word_block; i-- > 0;)
      for (std::size_t lane = blocks.size(); lane-- > 0;)
        if (i < points[lane]) words.put(shares[lane][symbols[lane * word_block + i]], states[lane]);
  }
};

/// What the raw bits of the tokens of a class are added to.
struct ClassForms {
  WordTokenForm of[token_places];
};
std::vector<ClassForms> all_forms() {
  std::vector<ClassForms> forms(word_classes);
  for (std::uint32_t number = 1; number < word_classes; ++number)
    for (std::uint32_t token = 0; token < token_places; ++token)
      forms[number].of[token] = form_of_token(token, octave_of_class(number));
  return forms;
}

template <class Word>
void take_raw_bits(const ClassForms& forms, const std::uint8_t* symbols, std::uint32_t points,
                   RawBitsReader& bits, Word* words) {
  for (std::uint32_t k = 0; k < points; ++k) {
    const WordTokenForm& form = forms.of[symbols[k]];
    words[k] = word_of_raw<Word>(form, bits.get(form.raw_bits));
  }
}

template <class Word>
void decode_tokens(WordBlocks<Word>& all, Round segment, const std::vector<DecoderTable>& tables,
                   const std::vector<ClassForms>& forms, Bytes tokens, Bytes raw) {
  std::vector<std::uint8_t> symbols(segment.size() * word_block);
  SegmentWords words(tokens, lanes_of_segment(segment));
  for (std::size_t first = 0; first < segment.size(); first += most_lanes) {
    const Round blocks = round_of(segment, first / most_lanes);
    const DecoderTable* entries[most_lanes];
    std::uint32_t points[most_lanes];
    for (std::size_t lane = 0; lane < blocks.size(); ++lane) {
      entries[lane] = &tables[all.classes[blocks[lane]]];
      points[lane] = all.points_of(blocks[lane]);
    }
    for (std::uint32_t i = 0; i < word_block; ++i) {
      for (std::size_t lane = 0; lane < blocks.size(); ++lane)
        if (i < points[lane])
          symbols[(first + lane) * word_block + i] =
              static_cast<std::uint8_t>(words.take(*entries[lane], words.states[lane]));
      words.check();
    }
  }
  words.check_end();
  RawBitsReader bits(raw, std::size_t{word_block} * 9);
  for (std::size_t i = 0; i < segment.size(); ++i) {
    take_raw_bits(forms[all.classes[segment[i]]], &symbols[i * word_block],
                  all.points_of(segment[i]), bits, all.words.data() + all.first[segment[i]]);
    bits.check();
  }
  bits.check_end();
}

}  // namespace

template <class Word>
WordBlocks<Word>::WordBlocks(const WordGrid& the_grid)
    : grid(the_grid),
      words(count_of(grid.extents)),
      first(grid.blocks() + 1),
      classes(grid.blocks()) {
  std::uint64_t block = 0;
  for (std::uint64_t chunk = 0; chunk < grid.chunks(); ++chunk)
    for_each_block(grid.chunk_at(chunk).size, grid.block,
                   [&](const Extents3&, const Extents3& size) {
                     first[block + 1] = first[block] + count_of(size);
                     ++block;
                   });
}

template <class Word>
std::vector<std::uint64_t> WordBlocks<Word>::live() const {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t block = 0; block < classes.size(); ++block)
    if (classes[block] != 0) numbers.push_back(block);
  return numbers;
}

void WordCounts::add_classes(const std::vector<std::uint8_t>& of_blocks) {
  for (std::uint64_t block = 0; block < of_blocks.size(); ++block)
    ++classes[class_before(of_blocks, block) * token_places + of_blocks[block]];
}

Cost WordCounts::choose(WordTables& tables) const {
  const WordTables& defaults = default_word_tables();
  Cost cost = 0;
  for (std::size_t i = 0; i < word_classes; ++i) {
    if (i > 0)
      cost += choose_table(&tokens[i * token_places], defaults.tokens[i].frequencies, false,
                           tables.tokens[i]);
    choose_table(&classes[i * token_places], defaults.classes[i].frequencies, false,
                 tables.classes[i]);
  }
  return cost;
}

BitCount WordCounts::raw_bits() const {
  BitCount bits = 0;
  for (std::uint32_t i = 0; i < word_classes * token_places; ++i)
    if (tokens[i] != 0)
      bits +=
          tokens[i] * form_of_token(i % token_places, octave_of_class(i / token_places)).raw_bits;
  return bits;
}

template <class Word>
OwnedWordSections encode_words(const WordBlocks<Word>& blocks, const WordHead<Word>& head,
                               const ForEach& for_each) {
  const std::uint64_t count = blocks.classes.size();
  const auto class_tables = all_tables(head.tables.classes, encoder_table);
  const auto token_tables = all_tables(head.tables.tokens, encoder_table);
  const std::vector<std::uint64_t> live = blocks.live();
  std::vector<std::vector<std::byte>> of_classes(ClassSegment::count(count));
  std::vector<std::optional<TokenSegment<Word>>> of_tokens(
      ceil_div(live.size(), std::uint64_t{most_lanes} * head.blocks_of_lane));
  for_each(of_classes.size() + of_tokens.size(), [&](std::size_t i) {
    if (i < of_classes.size()) {
      of_classes[i] = encode_classes(blocks.classes, ClassSegment(count, i), class_tables);
    } else {
      i -= of_classes.size();
      of_tokens[i].emplace(blocks, segment_of(live, head.blocks_of_lane, i), token_tables);
    }
  });
  OwnedWordSections sections;
  sections.head = head.write();
  for (const auto& segment : of_classes) append_segment(segment, sections.index, sections.classes);
  for (const auto& segment : of_tokens)
    append_segment(segment->tokens, sections.index, sections.codes);
  for (const auto& segment : of_tokens) append_segment(segment->raw, sections.index, sections.raw);
  return sections;
}

template <class Word>
void decode_words(WordBlocks<Word>& blocks, const WordHead<Word>& head,
                  const WordSections<Bytes>& sections, const ForEach& for_each) {
  const Bytes index = sections.index;
  const std::uint64_t count = blocks.classes.size();
  const std::uint64_t of_classes = ClassSegment::count(count);
  if (index.size() < 4 * of_classes) throw ArchiveError(chain_damage);
  const auto class_tables = all_tables(head.tables.classes, decoder_table);
  const std::vector<Bytes> class_bytes = cut_segments(index, 0, of_classes, sections.classes);
  for_each(of_classes, [&](std::size_t i) {
    decode_classes(blocks.classes, ClassSegment(count, i), class_tables, class_bytes[i]);
  });
  const std::vector<std::uint64_t> live = blocks.live();
  const std::uint64_t of_tokens =
      ceil_div(live.size(), std::uint64_t{most_lanes} * head.blocks_of_lane);
  if (index.size() != 4 * (of_classes + 2 * of_tokens)) throw ArchiveError(chain_damage);
  const auto token_tables = all_tables(head.tables.tokens, decoder_table);
  const std::vector<ClassForms> forms = all_forms();
  const std::vector<Bytes> tokens = cut_segments(index, of_classes, of_tokens, sections.codes);
  const std::vector<Bytes> raw =
      cut_segments(index, of_classes + of_tokens, of_tokens, sections.raw);
  for_each(of_tokens, [&](std::size_t i) {
    decode_tokens(blocks, segment_of(live, head.blocks_of_lane, i), token_tables, forms, tokens[i],
                  raw[i]);
  });
}

template struct WordBlocks<std::uint32_t>;
template struct WordBlocks<std::uint64_t>;
template OwnedWordSections encode_words(const WordBlocks<std::uint32_t>&,
                                        const WordHead<std::uint32_t>&, const ForEach&);
template OwnedWordSections encode_words(const WordBlocks<std::uint64_t>&,
                                        const WordHead<std::uint64_t>&, const ForEach&);
template void decode_words(WordBlocks<std::uint32_t>&, const WordHead<std::uint32_t>&,
                           const WordSections<Bytes>&, const ForEach&);
template void decode_words(WordBlocks<std::uint64_t>&, const WordHead<std::uint64_t>&,
                           const WordSections<Bytes>&, const ForEach&);

}  // namespace cuszi

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/lossless.hpp"
#include "core/base/units.hpp"
#include "core/lossless/head.hpp"

namespace cuszi {

/// The differences of a frame, in order of chunks, blocks and points.
template <class Word>
struct WordBlocks {
  WordGrid grid;
  std::vector<Word> words;
  std::vector<std::uint64_t> first;   ///< word of each block, and behind the last
  std::vector<std::uint8_t> classes;  ///< of each block

  explicit WordBlocks(const WordGrid& grid);
  std::uint32_t points_of(std::uint64_t block) const {
    return static_cast<std::uint32_t>(first[block + 1] - first[block]);
  }
  std::span<const Word> words_of(std::uint64_t block) const {
    return std::span(words).subspan(first[block], points_of(block));
  }
  /// The blocks that have tokens.
  std::vector<std::uint64_t> live() const;
};

/// Returns the class of a block, whose tokens it adds to those counted, [class][token].
template <class Word, class Count>
std::uint8_t count_block(std::span<const Word> words, Count* counts) {
  ClassSum sum;
  for (const Word word : words) sum.add(magnitude_of_word(word));
  const std::uint32_t number = sum.class_of_block();
  const unsigned octave = octave_of_class(number);
  if (number != 0)
    for (const Word word : words)
      ++counts[number * token_places +
               token_of_word(magnitude_of_word(word), is_negative(word), octave).token];
  return static_cast<std::uint8_t>(number);
}

/// How often symbols come: what tables follow from.
struct WordCounts {
  std::vector<std::uint64_t> tokens;   ///< [class][token]
  std::vector<std::uint64_t> classes;  ///< [class before][class]

  WordCounts() : tokens(word_classes * token_places), classes(word_classes * token_places) {}
  void add_classes(const std::vector<std::uint8_t>& of_blocks);
  /// The tables that fit, and the cost of what they code without raw bits.
  Cost choose(WordTables& tables) const;
  BitCount raw_bits() const;
};

/// The sections of a predicted frame; Data is bytes or a view of bytes.
template <class Data>
struct WordSections {
  Data head;
  Data index;  ///< u32 each: sizes of segments of classes, of tokens, of the raw bits of these
  Data classes;
  Data codes;  ///< tokens
  Data raw;    ///< bits of tokens

  ByteCount size() const {
    return head.size() + index.size() + classes.size() + codes.size() + raw.size();
  }
};
using OwnedWordSections = WordSections<std::vector<std::byte>>;

template <class Word>
OwnedWordSections encode_words(const WordBlocks<Word>& blocks, const WordHead<Word>& head,
                               const ForEach& for_each);

/// Decodes classes and words. Throws ArchiveError.
template <class Word>
void decode_words(WordBlocks<Word>& blocks, const WordHead<Word>& head,
                  const WordSections<Bytes>& sections, const ForEach& for_each);

}  // namespace cuszi

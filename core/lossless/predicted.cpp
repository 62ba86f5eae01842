#include "core/lossless/predicted.hpp"

#include <cstring>
#include <type_traits>

#include "core/lossless/choice.hpp"

namespace cuszi {

namespace {

/// Inverse of predict_box() of a chunk.
template <class Word>
void restore_chunk(const WordBlocks<Word>& blocks, const WordHead<Word>& head, const WordBox& chunk,
                   Word* bits) {
  std::vector<Word> words(count_of(chunk.size));
  const Word* from = blocks.words.data() + blocks.grid.points_before(chunk);
  for_each_block(chunk.size, blocks.grid.block, [&](const Extents3& at, const Extents3& size) {
    for_each_row_of_block(chunk.size, at, size, [&](std::uint64_t offset, std::uint64_t points) {
      for (std::uint64_t x = 0; x < points; ++x) words[offset + x] = *from++ << head.map.shift();
    });
  });
  sum_differences(words.data(), chunk.size, head.orders);
  from = words.data();
  for_each_row_of_block(blocks.grid.extents, chunk.first, chunk.size,
                        [&](std::uint64_t at, std::uint64_t points) {
                          for (std::uint64_t x = 0; x < points; ++x)
                            bits[at + x] = head.map.bits_of(*from++);
                        });
}

template <class Word>
OwnedWordSections encode(std::span<const Word> bits, const Extents3& extents,
                         std::uint64_t integer_step, const ForEach& for_each) {
  WordScales scales{};
  if (integer_step == 0) scales = scales_of(bits, for_each);
  scales.integer_step = integer_step;
  const WordChoice<Word> choice = choose_words(bits.data(), extents, scales, for_each);
  WordBlocks<Word> blocks(WordGrid::of(extents));
  WordHead<Word> head{choice.map, choice.orders, blocks.grid.chunk, 0, {}};
  std::vector<std::vector<std::uint32_t>> of_chunks(blocks.grid.chunks());
  for_each(of_chunks.size(), [&](std::size_t i) {
    const WordBox chunk = blocks.grid.chunk_at(i);
    predict_box(bits.data(), choice, extents, chunk, blocks.grid.block,
                blocks.words.data() + blocks.grid.points_before(chunk));
    of_chunks[i].resize(word_classes * token_places);
    const std::uint64_t first = blocks.grid.blocks_before(chunk);
    const std::uint64_t end = first + count_of(WordGrid::parts(chunk.size, blocks.grid.block));
    for (std::uint64_t block = first; block < end; ++block)
      blocks.classes[block] = count_block(blocks.words_of(block), of_chunks[i].data());
  });
  WordCounts counts;
  for (const auto& chunk : of_chunks)
    for (std::size_t i = 0; i < chunk.size(); ++i) counts.tokens[i] += chunk[i];
  counts.add_classes(blocks.classes);
  const Cost cost = counts.choose(head.tables);
  head.blocks_of_lane =
      choose_blocks_of_token_lane(blocks.live().size(), (cost >> cost_bits) + counts.raw_bits());
  return encode_words(blocks, head, for_each);
}

template <class Word>
void decode(const WordSections<Bytes>& sections, const Extents3& extents, std::span<Word> bits,
            const ForEach& for_each) {
  const auto head = WordHead<Word>::read(sections.head, extents);
  WordBlocks<Word> blocks(WordGrid{extents, head.chunk, WordGrid::block_of_rank(rank_of(extents))});
  decode_words(blocks, head, sections, for_each);
  for_each(blocks.grid.chunks(), [&](std::size_t i) {
    restore_chunk(blocks, head, blocks.grid.chunk_at(i), bits.data());
  });
}

template <class Word, class Byte>
auto words_in(std::span<Byte> values) {
  using Bits = std::conditional_t<std::is_const_v<Byte>, const Word, Word>;
  return std::span(reinterpret_cast<Bits*>(values.data()), values.size() / sizeof(Word));
}

std::vector<std::uint32_t> widened_all(Bytes values, DType dtype) {
  std::vector<std::uint32_t> words(values.size() / size_of(dtype));
  with_narrow_type(dtype, [&]<class T>(T value) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::memcpy(&value, values.data() + i * sizeof(T), sizeof(T));
      words[i] = widened(value);
    }
  });
  return words;
}
void narrow_all(std::span<const std::uint32_t> words, DType dtype, MutableBytes values) {
  with_narrow_type(dtype, [&]<class T>(T value) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      value = narrowed<T>(words[i]);
      std::memcpy(values.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
}

}  // namespace

OwnedWordSections encode_predicted(Bytes values, const FrameShape& shape, const ForEach& for_each,
                                   std::uint64_t step) {
  const std::uint64_t integer_step = is_integer(shape.dtype) ? step : 0;
  const auto encode_as = [&]<class Word>(std::span<const Word> bits) {
    return encode<Word>(bits, shape.extents(), integer_step, for_each);
  };
  if (size_of(shape.dtype) == sizeof(std::uint64_t))
    return encode_as(words_in<std::uint64_t>(values));
  if (!is_narrow(shape.dtype)) return encode_as(words_in<std::uint32_t>(values));
  const std::vector<std::uint32_t> words = widened_all(values, shape.dtype);
  return encode_as(std::span(words));
}

PredictedValues share_sections(OwnedWordSections sections) {
  const auto owner = std::make_shared<OwnedWordSections>(std::move(sections));
  return {{owner->head, owner->index, owner->classes, owner->codes, owner->raw}, owner};
}

void decode_predicted(const WordSections<Bytes>& sections, const FrameShape& shape,
                      MutableBytes values, const ForEach& for_each) {
  const auto decode_as = [&]<class Word>(std::span<Word> bits) {
    decode<Word>(sections, shape.extents(), bits, for_each);
  };
  if (size_of(shape.dtype) == sizeof(std::uint64_t))
    return decode_as(words_in<std::uint64_t>(values));
  if (!is_narrow(shape.dtype)) return decode_as(words_in<std::uint32_t>(values));
  std::vector<std::uint32_t> words(shape.points());
  decode_as(std::span(words));
  narrow_all(words, shape.dtype, values);
}

void check_predicted_head(Bytes head, const FrameShape& shape) {
  if (size_of(shape.dtype) == sizeof(std::uint64_t))
    WordHead<std::uint64_t>::read(head, shape.extents());
  else
    WordHead<std::uint32_t>::read(head, shape.extents());
}

}  // namespace cuszi

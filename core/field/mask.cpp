#include "core/field/mask.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/lossless.hpp"

namespace cuszi {

namespace {

constexpr std::size_t max_palette = 255;
constexpr int values_level = 3;

template <class Word>
std::vector<Word> words_of(Bytes values) {
  std::vector<Word> words(values.size() / sizeof(Word));
  std::memcpy(words.data(), values.data(), values.size());
  return words;
}

template <class Word>
std::vector<std::byte> encode_values(Bytes values) {
  std::map<Word, std::uint8_t> palette;
  std::vector<Word> order;
  std::vector<std::uint8_t> indices;
  for (const Word word : words_of<Word>(values)) {
    if (!indices.empty() && word == order[indices.back()]) {
      indices.push_back(indices.back());
      continue;
    }
    const auto [entry, fresh] = palette.try_emplace(word, static_cast<std::uint8_t>(order.size()));
    if (fresh) order.push_back(word);
    if (order.size() > max_palette) break;
    indices.push_back(entry->second);
  }
  ByteWriter out;
  if (order.size() > max_palette) {
    out.put(std::uint8_t{0});
    out.append(zstd_compress(values, values_level));
    return out.take();
  }
  out.put(static_cast<std::uint8_t>(order.size()));
  for (const Word word : order) out.put(word);
  if (order.size() > 1) out.append(zstd_compress(std::as_bytes(std::span(indices)), values_level));
  return out.take();
}

template <class Word>
std::vector<std::byte> decode_values(Bytes encoded, std::uint64_t count) {
  ByteReader in(encoded, "the mask's values");
  std::vector<Word> palette(in.get<std::uint8_t>());
  for (Word& word : palette) word = in.get<Word>();
  if (palette.size() == 1) {
    in.expect_end();
    const Bytes value = std::as_bytes(std::span(palette));
    return {value.begin(), value.end()};
  }
  std::vector<std::byte> values(count * sizeof(Word));
  if (palette.empty()) {
    zstd_decompress(in.take(in.remaining()), values);
    return values;
  }
  std::vector<std::uint8_t> indices(count);
  zstd_decompress(in.take(in.remaining()), std::as_writable_bytes(std::span(indices)));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (indices[i] >= palette.size()) throw ArchiveError("the mask's values leave their palette");
    std::memcpy(values.data() + i * sizeof(Word), &palette[indices[i]], sizeof(Word));
  }
  return values;
}

}  // namespace

void FillValues::add(double value) {
  if (count == max_count) {
    throw UsageError("at most " + std::to_string(max_count) + " fill values are possible",
                     Setting::fill_values);
  }
  values.at(count++) = value;
}

FillValues joined(FillValues fills, const FillValues& more) {
  for (std::size_t i = 0; i < more.count; ++i) {
    const double value = more.values.at(i);
    const auto* const end = fills.values.begin() + fills.count;
    if (std::find(fills.values.cbegin(), end, value) == end) fills.add(value);
  }
  return fills;
}

Mask expand(const FrameMask& from, const Dims& dims, DType dtype) {
  Mask mask;
  if (!from.any()) return mask;
  mask.count = from.count;
  mask.words = all_words(from.bits, dims);
  std::uint64_t ones = 0;
  for (const std::uint64_t word : mask.words) ones += static_cast<unsigned>(std::popcount(word));
  check_masked_points(ones, from.count);
  const ByteCount size = size_of(dtype);
  if (!from.has_one_value(dtype)) {
    mask.values = from.values;
    return mask;
  }
  mask.values.resize(from.count * size);
  for (std::uint64_t i = 0; i < from.count; ++i) {
    std::memcpy(mask.values.data() + i * size, from.values.data(), size);
  }
  return mask;
}

FrameMask compact(const Mask& mask, const Dims& dims, DType dtype) {
  if (!mask.any()) return {};
  const ByteCount size = size_of(dtype);
  const Bytes values = mask.values;
  const bool alike = std::ranges::equal(values.subspan(size), values.first(values.size() - size));
  const Bytes kept = alike ? values.first(size) : values;
  return {coded_form(mask.words, dims), mask.count, {kept.begin(), kept.end()}};
}

void check_masked_points(std::uint64_t found, std::uint64_t stated) {
  if (found == stated) return;
  throw ArchiveError("the mask holds " + std::to_string(found) + " points where its frame says " +
                     std::to_string(stated));
}

EncodedMask encode_mask(const FrameMask& mask, DType dtype, const ForEach& for_each) {
  return with_type_of(dtype, [&](auto zero) {
    return EncodedMask{encode_bits(mask.bits, for_each),
                       encode_values<BitsOf<decltype(zero)>>(mask.values)};
  });
}

FrameMask decode_mask(const EncodedMask& encoded, std::uint64_t points, DType dtype,
                      std::uint64_t count, const ForEach& for_each) {
  return with_type_of(dtype, [&](auto zero) {
    return FrameMask{decode_bits(encoded.bits, points, for_each), count,
                     decode_values<BitsOf<decltype(zero)>>(encoded.values, count)};
  });
}

}  // namespace cuszi

#include "core/field/mask.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "core/base/bytes.hpp"
#include "core/base/lossless.hpp"

namespace cuszi {

namespace {

constexpr std::size_t max_palette = 255;
constexpr int values_level = 3;

/// The distance in points to the neighbour that a bit is XORed with; the numbers stand in archives.
enum class Reference : std::uint8_t { none = 0, row = 1, slice = 2 };

std::uint64_t distance_of(Reference reference, const Dims& dims) {
  const Extents3 e = dims.as_3d();
  if (reference == Reference::none) return 0;
  return reference == Reference::row ? e[2] : e[1] * e[2];
}

/// The 64 bits that begin `distance` points before word `at`; bits before the first are 0.
std::uint64_t word_before(const std::vector<std::uint64_t>& words, std::size_t at,
                          std::uint64_t distance) {
  const auto whole = static_cast<std::size_t>(distance / 64);
  const auto bits = static_cast<unsigned>(distance % 64);
  if (at < whole) return 0;
  std::uint64_t word = words[at - whole] << bits;
  if (bits != 0 && at > whole) word |= words[at - whole - 1] >> (64 - bits);
  return word;
}

std::vector<std::uint64_t> differences(const std::vector<std::uint64_t>& words,
                                       std::uint64_t distance, std::uint64_t points) {
  std::vector<std::uint64_t> result(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    result[i] = words[i] ^ (distance == 0 ? 0 : word_before(words, i, distance));
  }
  if (points % 64 != 0) result.back() &= (std::uint64_t{1} << (points % 64)) - 1;
  return result;
}

/// Undoes differences() in place. Below a distance of 64 a word depends on its own lower bits:
/// doubling the distance resolves them in at most six steps.
void accumulate(std::vector<std::uint64_t>& words, std::uint64_t distance) {
  if (distance == 0) return;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (distance >= 64) {
      words[i] ^= word_before(words, i, distance);
      continue;
    }
    if (i > 0) words[i] ^= words[i - 1] >> (64 - distance);
    for (std::uint64_t d = distance; d < 64; d *= 2) words[i] ^= words[i] << d;
  }
}

template <class Word>
std::vector<std::byte> encode_values(const Mask& mask) {
  std::map<Word, std::uint8_t> palette;
  std::vector<Word> order;
  std::vector<std::uint8_t> indices;
  indices.reserve(mask.count);
  for (std::uint64_t i = 0; i < mask.count && order.size() <= max_palette; ++i) {
    Word word;
    std::memcpy(&word, mask.values.data() + i * sizeof(Word), sizeof(Word));
    const auto [entry, fresh] = palette.try_emplace(word, static_cast<std::uint8_t>(order.size()));
    if (fresh) order.push_back(word);
    indices.push_back(entry->second);
  }
  ByteWriter out;
  if (order.size() > max_palette) {
    out.put(std::uint8_t{0});
    out.append(zstd_compress(mask.values, values_level));
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
  std::vector<std::byte> values(count * sizeof(Word));
  std::vector<Word> palette(in.get<std::uint8_t>());
  if (palette.empty()) {
    zstd_decompress(in.take(in.remaining()), values);
    return values;
  }
  for (Word& word : palette) word = in.get<Word>();
  std::vector<std::uint8_t> indices(count, 0);
  if (palette.size() > 1) {
    zstd_decompress(in.take(in.remaining()), std::as_writable_bytes(std::span(indices)));
  }
  in.expect_end();
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

/// Whichever a quick look at all references finds shortest, the earlier one on ties.
std::vector<std::byte> encode_bits(const std::vector<std::uint64_t>& bits, const Dims& dims) {
  constexpr ByteCount small = 1 << 20;
  constexpr int quick = 3;
  constexpr int thorough = 19;
  std::vector<std::byte> best;
  std::vector<std::uint64_t> best_words;
  Reference best_reference = Reference::none;
  for (const Reference reference : {Reference::none, Reference::row, Reference::slice}) {
    const std::uint64_t distance = distance_of(reference, dims);
    if (reference != Reference::none && distance == 0) continue;
    auto words = differences(bits, distance, dims.count());
    auto packed = zstd_compress(std::as_bytes(std::span(words)), quick);
    if (!best.empty() && packed.size() >= best.size()) continue;
    best = std::move(packed);
    best_words = std::move(words);
    best_reference = reference;
  }
  const Bytes bytes = std::as_bytes(std::span(best_words));
  if (bytes.size() <= small) best = zstd_compress(bytes, thorough);
  best.insert(best.begin(), static_cast<std::byte>(best_reference));
  return best;
}

std::vector<std::uint64_t> decode_bits(Bytes bytes, const Dims& dims) {
  std::vector<std::uint64_t> words(ceil_div(dims.count(), 64));
  ByteReader in(bytes, "a bit of each point");
  const auto reference = in.get<std::uint8_t>();
  if (reference > static_cast<std::uint8_t>(Reference::slice)) {
    throw ArchiveError("bits of points refer to an unknown neighbour");
  }
  zstd_decompress(in.take(in.remaining()), std::as_writable_bytes(std::span(words)));
  accumulate(words, distance_of(static_cast<Reference>(reference), dims));
  if (dims.count() % 64 != 0) words.back() &= (std::uint64_t{1} << (dims.count() % 64)) - 1;
  return words;
}

EncodedMask encode_mask(const Mask& mask, const Dims& dims, DType dtype) {
  return with_type_of(dtype, [&](auto zero) {
    return EncodedMask{encode_bits(mask.words, dims), encode_values<BitsOf<decltype(zero)>>(mask)};
  });
}

Mask decode_mask(const EncodedMask& encoded, const Dims& dims, DType dtype, std::uint64_t count) {
  Mask mask;
  mask.count = count;
  mask.words = decode_bits(encoded.bits, dims);
  std::uint64_t ones = 0;
  for (const std::uint64_t word : mask.words) ones += static_cast<unsigned>(std::popcount(word));
  if (ones != count) throw ArchiveError("the mask holds another number of points than it says");
  mask.values = with_type_of(dtype, [&](auto zero) {
    return decode_values<BitsOf<decltype(zero)>>(encoded.values, count);
  });
  return mask;
}

}  // namespace cuszi

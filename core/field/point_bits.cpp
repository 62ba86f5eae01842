#include "core/field/point_bits.hpp"

#include <bit>

#include "core/base/bytes.hpp"
#include "core/base/varint.hpp"

namespace cuszi {

namespace {

/// First byte of the section: words, or positions with places_form + reference.
constexpr std::uint8_t words_form = 0;
constexpr std::uint8_t places_form = 1;

/// Levels that take about 1 ms.
int level_of(ByteCount bytes) {
  constexpr ByteCount small = ByteCount{16} << 10;
  constexpr ByteCount large = ByteCount{256} << 10;
  if (bytes <= small) return 19;
  return bytes <= large ? 9 : 1;
}

/// Flips the set ones of `count` bits from `first` on; count <= 32.
void flip_bits(std::vector<std::uint64_t>& words, std::uint64_t first, unsigned count,
               std::uint64_t bits) {
  const auto shift = static_cast<unsigned>(first % 64);
  words[first / 64] ^= bits << shift;
  if (shift + count > 64) words[first / 64 + 1] ^= bits >> (64 - shift);
}

DifferingCounts count_differing(const std::vector<std::uint64_t>& words, const BitRuns& runs) {
  DifferingCounts counts{};
  for (std::uint64_t i = 0; i < runs.count(); ++i) {
    const BitRun run = runs[i];
    for (std::size_t r = 0; r < bit_references; ++r) {
      const auto reference = static_cast<BitReference>(r);
      counts.at(r) +=
          static_cast<unsigned>(std::popcount(differing_bits(words.data(), runs, run, reference)));
    }
  }
  return counts;
}

/// Inverts the difference to the previous row.
void undo_rows(std::vector<std::uint64_t>& words, const BitRuns& runs) {
  for (std::uint64_t i = 0; i < runs.count(); ++i) {
    const BitRun run = runs[i];
    if (!run.has_row_before) continue;
    flip_bits(words, run.first, run.count,
              read_bits(words.data(), run.first - runs.width, run.count));
  }
}

template <class Each>
void for_each_place(Bytes gaps, std::uint64_t points, const Each& each) {
  ByteReader in(gaps, "the positions of bits");
  std::uint64_t next = 0;
  while (in.remaining() != 0) {
    const std::uint64_t gap = in.varint();
    if (gap >= points - next) refuse_places();
    each(next + gap);
    next += gap + 1;
  }
}

}  // namespace

BitRuns BitRuns::of(const Dims& dims) {
  const Extents3 e = dims.as_3d();
  return {e[2], e[1], e[0]};
}

void refuse_places() { throw ArchiveError("the positions of bits leave the frame"); }

BitForm choose_form(const DifferingCounts& counts, std::uint64_t points) {
  constexpr std::uint64_t few = 32;  // points per position, at least
  std::size_t best = 0;
  for (const std::size_t r : {std::size_t{1}, std::size_t{2}}) {
    if (counts.at(r) < counts.at(best)) best = r;
  }
  if (2 * counts[3] < counts.at(best)) best = 3;
  if (counts.at(best) > points / few) return {};
  return {true, static_cast<BitReference>(best)};
}

PointBits coded_form(const std::vector<std::uint64_t>& words, const Dims& dims) {
  const BitRuns runs = BitRuns::of(dims);
  const BitForm form = choose_form(count_differing(words, runs), dims.count());
  if (!form.has_places) return {BitReference::none, {}, words};
  ByteWriter gaps;
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < runs.count(); ++i) {
    const BitRun run = runs[i];
    std::uint32_t bits = differing_bits(words.data(), runs, run, form.reference);
    for (; bits != 0; bits &= bits - 1) {
      const std::uint64_t place = run.first + static_cast<unsigned>(std::countr_zero(bits));
      gaps.varint(place - next);
      next = place + 1;
    }
  }
  return {form.reference, gaps.take(), {}};
}

std::vector<std::uint64_t> all_words(const PointBits& bits, const Dims& dims) {
  if (!bits.words.empty()) return bits.words;
  std::vector<std::uint64_t> words(ceil_div(dims.count(), 64));
  for_each_place(bits.gaps, dims.count(), [&](std::uint64_t place) {
    words[place / 64] |= std::uint64_t{1} << (place % 64);
  });
  const BitRuns runs = BitRuns::of(dims);
  const auto reference = static_cast<unsigned>(bits.reference);
  if ((reference & 1U) != 0) undo_rows(words, runs);
  if ((reference & 2U) != 0) undo_rows(words, runs.of_slices());
  return words;
}

std::vector<std::byte> encode_bits(const PointBits& bits, const ForEach& for_each) {
  ByteWriter out;
  if (bits.words.empty()) {
    out.put(static_cast<std::uint8_t>(places_form + static_cast<std::uint8_t>(bits.reference)));
    out.varint(bits.gaps.size());
    out.append(zstd_compress_pieces(bits.gaps, level_of(bits.gaps.size()), for_each));
  } else {
    const Bytes words = std::as_bytes(std::span(bits.words));
    out.put(words_form);
    out.append(zstd_compress_pieces(words, level_of(words.size()), for_each));
  }
  return out.take();
}

PointBits decode_bits(Bytes bytes, std::uint64_t points, const ForEach& for_each) {
  ByteReader in(bytes, "a bit of each point");
  const auto form = in.get<std::uint8_t>();
  PointBits bits;
  if (form != words_form) {
    if (form - places_form >= static_cast<int>(bit_references)) {
      throw ArchiveError("bits of points refer to an unknown neighbour");
    }
    bits.reference = static_cast<BitReference>(form - places_form);
    const std::uint64_t size = in.varint();
    if (size > points) throw ArchiveError("the positions of bits are more than the frame's points");
    bits.gaps.resize(size);
    zstd_decompress_pieces(in.take(in.remaining()), bits.gaps, for_each);
    if (size != 0 && !ends_varint(bits.gaps.back())) refuse_places();
    return bits;
  }
  bits.words.resize(ceil_div(points, 64));
  zstd_decompress_pieces(in.take(in.remaining()), std::as_writable_bytes(std::span(bits.words)),
                         for_each);
  if (points % 64 != 0) bits.words.back() &= (std::uint64_t{1} << (points % 64)) - 1;
  return bits;
}

}  // namespace cuszi

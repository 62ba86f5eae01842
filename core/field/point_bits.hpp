#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/dims.hpp"
#include "core/base/hd.hpp"
#include "core/base/lossless.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// What bits are coded relative to (XOR); numbers in archives. The first row of a slice has no
/// previous row.
enum class BitReference : std::uint8_t { none = 0, row = 1, slice = 2, row_and_slice = 3 };

inline constexpr std::size_t bit_references = 4;

/// Coded bits, one per point: positions of ones after XOR with the reference if they are few, else
/// all bits.
struct PointBits {
  BitReference reference = BitReference::none;  ///< none if `words` are used
  std::vector<std::byte> gaps;       ///< varints between positions; empty if `words` are used
  std::vector<std::uint64_t> words;  ///< bit i % 64 of word i / 64 is point i; zero-padded

  friend bool operator==(const PointBits&, const PointBits&) = default;
};

struct BitRun {
  std::uint64_t first = 0;  ///< point
  unsigned count = 0;
  bool has_row_before = false;
  bool has_slice_before = false;
};

struct BitRuns {
  static constexpr std::uint64_t most_bits = 32;

  std::uint64_t width = 1;   ///< points
  std::uint64_t height = 1;  ///< rows
  std::uint64_t slices = 1;

  static BitRuns of(const Dims& dims);
  /// These points with slices as rows.
  BitRuns of_slices() const { return {width * height, slices, 1}; }

  CUSZI_HD std::uint64_t in_row() const { return ceil_div(width, most_bits); }
  CUSZI_HD std::uint64_t count() const { return in_row() * height * slices; }
  CUSZI_HD std::uint64_t slice_points() const { return width * height; }

  CUSZI_HD BitRun operator[](std::uint64_t i) const {
    const std::uint64_t row = i / in_row();
    const std::uint64_t x = i % in_row() * most_bits;
    const std::uint64_t left = width - x;
    return {row * width + x, static_cast<unsigned>(left < most_bits ? left : most_bits),
            row % height != 0, row >= height};
  }
};

/// `count` <= 32 bits, the first one lowest.
CUSZI_HD inline std::uint32_t read_bits(const std::uint64_t* words, std::uint64_t first,
                                        unsigned count) {
  const auto shift = static_cast<unsigned>(first % 64);
  std::uint64_t bits = words[first / 64] >> shift;
  if (shift + count > 64) bits |= words[first / 64 + 1] << (64 - shift);
  return static_cast<std::uint32_t>(bits & ((std::uint64_t{1} << count) - 1));
}

CUSZI_HD inline std::uint32_t differing_bits(const std::uint64_t* words, const BitRuns& runs,
                                             const BitRun& run, BitReference reference) {
  const bool from_row = (static_cast<unsigned>(reference) & 1U) != 0 && run.has_row_before;
  const bool from_slice = (static_cast<unsigned>(reference) & 2U) != 0 && run.has_slice_before;
  const std::uint64_t slice = runs.slice_points();
  std::uint32_t bits = read_bits(words, run.first, run.count);
  if (from_row) bits ^= read_bits(words, run.first - runs.width, run.count);
  if (from_slice) bits ^= read_bits(words, run.first - slice, run.count);
  if (from_row && from_slice) bits ^= read_bits(words, run.first - slice - runs.width, run.count);
  return bits;
}

[[noreturn]] void refuse_places();

using DifferingCounts = std::array<std::uint64_t, bit_references>;

struct BitForm {
  bool has_places = false;
  BitReference reference = BitReference::none;
};
BitForm choose_form(const DifferingCounts& counts, std::uint64_t points);

PointBits coded_form(const std::vector<std::uint64_t>& words, const Dims& dims);
/// Throws ArchiveError if positions are out of range.
std::vector<std::uint64_t> all_words(const PointBits& bits, const Dims& dims);

/// Encodes one section.
std::vector<std::byte> encode_bits(const PointBits& bits, const ForEach& for_each);
/// Inverse of encode_bits(). Throws ArchiveError. Gaps end with a complete varint; their range is
/// not verified.
PointBits decode_bits(Bytes bytes, std::uint64_t points, const ForEach& for_each);

}  // namespace cuszi

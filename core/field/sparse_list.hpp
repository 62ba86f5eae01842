#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/hd.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// A point that the quant-codes cannot express, and the integer that puts it right: a delta
/// (zigzag) or the bits of the value.
struct SparseEntry {
  std::uint64_t point;
  std::uint64_t value;
};

/// Sparse points of a frame as they stand in an archive: how many fall into each block of 2^16
/// points, their positions within the block in 16 bits, their values in as few bytes as the
/// largest needs. Every part is an array, so that threads can make and read it in parallel.
class SparseList {
 public:
  static constexpr std::uint64_t block_points = std::uint64_t{1} << 16;

  /// Bytes per value of a list whose largest value this is: 1, 2, 4 or 8.
  static std::uint8_t value_bytes(std::uint64_t largest);

  /// What a list begins with, before its counts, positions and values.
  static std::vector<std::byte> encode_head(std::uint64_t count, std::uint8_t value_bytes);

  /// The sizes of the parts of an encoded list, whose head may be all that is given. Throws
  /// ArchiveError if `size` bytes cannot be such a list.
  struct Layout {
    std::uint64_t count = 0;
    std::uint8_t value_bytes = 0;
    ByteCount counts_at = 0;
    ByteCount positions_at = 0;
    ByteCount values_at = 0;
  };
  static Layout layout(Bytes head, ByteCount size, std::uint64_t points);
  static constexpr ByteCount max_head_bytes = 11;

  /// The bytes of entries sorted by point; no bytes for no entries.
  static std::vector<std::byte> encode(std::span<const SparseEntry> entries, std::uint64_t points);

  /// How many entries an encoded list has, without reading it.
  static std::uint64_t encoded_count(Bytes bytes);

  /// Reads a list for a frame of `points` points. Throws ArchiveError.
  static SparseList decode(Bytes bytes, std::uint64_t points);

  std::span<const SparseEntry> entries() const { return entries_; }

  /// The value at `point`, if the list has one. Logarithmic.
  std::optional<std::uint64_t> find(std::uint64_t point) const;

 private:
  std::vector<SparseEntry> entries_;
};

/// Signed to unsigned, small magnitudes to small numbers.
CUSZI_HD constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
CUSZI_HD constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace cuszi

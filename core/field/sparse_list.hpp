#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/hd.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// A point beyond the quant-codes with its correction: a zigzag delta or the value's bits.
struct SparseEntry {
  std::uint64_t point;
  std::uint64_t value;
};

/// Sparse points for parallel coding: counts of blocks of 2^16 points, 16-bit positions, and values
/// in as few bytes as the largest needs.
class SparseList {
 public:
  static constexpr std::uint64_t block_points = std::uint64_t{1} << 16;

  /// Bytes per value: 1, 2, 4 or 8.
  static std::uint8_t value_bytes(std::uint64_t largest);

  static std::vector<std::byte> encode_head(std::uint64_t count, std::uint8_t value_bytes);

  /// Offsets of the parts of an encoded list, from its head. Throws ArchiveError if `size` bytes do
  /// not fit.
  struct Layout {
    std::uint64_t count = 0;
    std::uint8_t value_bytes = 0;
    ByteCount counts_at = 0;
    ByteCount positions_at = 0;
    ByteCount values_at = 0;
  };
  static Layout layout(Bytes head, ByteCount size, std::uint64_t points);
  static constexpr ByteCount max_head_bytes = 11;

  /// `entries` must be sorted by point. No entries give no bytes.
  static std::vector<std::byte> encode(std::span<const SparseEntry> entries, std::uint64_t points);

  static std::uint64_t encoded_count(Bytes bytes);

  /// Throws ArchiveError.
  static SparseList decode(Bytes bytes, std::uint64_t points);

  std::span<const SparseEntry> entries() const { return entries_; }

  std::optional<std::uint64_t> find(std::uint64_t point) const;

 private:
  std::vector<SparseEntry> entries_;
};

/// Maps small magnitudes to small unsigned numbers.
CUSZI_HD constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
CUSZI_HD constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace cuszi

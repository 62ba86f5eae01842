#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/hd.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// Raw bits of a segment are words of so many bits.
inline constexpr BitCount raw_word_bits = 64;
CUSZI_HD constexpr ByteCount raw_bytes_of(BitCount bits) {
  return (bits + raw_word_bits - 1) / raw_word_bits * (raw_word_bits / 8);
}

/// Appends numbers of up to 64 bits, lowest bits first.
class RawBitsWriter {
 public:
  void put(std::uint64_t value, unsigned bits) {
    pending_ |= value << count_;
    if (count_ + bits >= 64) {
      words_.push_back(pending_);
      pending_ = count_ == 0 ? 0 : value >> (64 - count_);
    }
    count_ = (count_ + bits) % 64;
  }
  /// The bytes, filled up by zeros to words.
  std::vector<std::byte> take() {
    if (count_ != 0) words_.push_back(pending_);
    const auto* const bytes = reinterpret_cast<const std::byte*>(words_.data());
    return {bytes, bytes + words_.size() * sizeof pending_};
  }

 private:
  std::vector<std::uint64_t> words_;
  std::uint64_t pending_ = 0;  ///< the lowest `count_` bits
  unsigned count_ = 0;         ///< below 64
};

/// Reads what RawBitsWriter wrote.
class RawBitsReader {
 public:
  /// Reads of a number of bytes after the end are zeros, until check().
  explicit RawBitsReader(Bytes bytes, std::size_t bytes_between_checks) : bits_(8 * bytes.size()) {
    const std::size_t readable = bytes.size() + bytes_between_checks + 2 * sizeof(std::uint64_t);
    bytes_.reserve(readable);
    bytes_.assign(bytes.begin(), bytes.end());
    bytes_.resize(readable);
  }

  /// Up to 64 bits.
  std::uint64_t get(unsigned bits) {
    const std::byte* const next = bytes_.data() + at_ / 8;
    const auto open = static_cast<unsigned>(at_ % 8);
    std::uint64_t value = load(next) >> open;
    if (bits + open > 64) value |= load(next + sizeof value) << (64 - open);
    at_ += bits;
    return bits == 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
  }
  /// Throws ArchiveError if bits after the end were read.
  void check() const {
    if (at_ > bits_) throw ArchiveError("the raw bits of a segment are truncated");
  }
  void check_end() {
    const BitCount padded = 8 * raw_bytes_of(at_);
    if (padded != bits_ || get(static_cast<unsigned>(padded - at_)) != 0)
      throw ArchiveError("the raw bits of a segment do not end as they should");
  }

 private:
  static std::uint64_t load(const std::byte* from) {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
  }

  std::vector<std::byte> bytes_;
  BitCount bits_;
  BitCount at_ = 0;
};

}  // namespace cuszi

#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace cuszi {

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
  /// Appends the bytes to `out`, the last one filled by zeros.
  void append_to(std::vector<std::byte>& out) {
    words_.push_back(pending_);
    const std::size_t size = (words_.size() - 1) * sizeof pending_ + ceil_div(count_, 8U);
    const auto* const bytes = reinterpret_cast<const std::byte*>(words_.data());
    out.insert(out.end(), bytes, bytes + size);
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
  explicit RawBitsReader(Bytes bytes, std::size_t bytes_between_checks)
      : bytes_(bytes.size() + bytes_between_checks + 2 * sizeof(std::uint64_t)),
        bits_(8 * bytes.size()) {
    if (!bytes.empty()) std::memcpy(bytes_.data(), bytes.data(), bytes.size());
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
  void check_end() const {
    const bool is_padded = (static_cast<unsigned>(bytes_[at_ / 8]) >> (at_ % 8)) == 0;
    if (ceil_div(at_, BitCount{8}) * 8 != bits_ || !is_padded)
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

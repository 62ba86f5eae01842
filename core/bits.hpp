#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"

namespace cuszi {

/// Appends small bit fields to a byte string, the first bit in the highest place: for side
/// information, not for speed.
class BitWriter {
 public:
  void put(std::uint64_t value, int bits) {
    for (int i = bits; i-- > 0;) {
      if (free_ == 0) {
        bytes_.push_back(std::byte{0});
        free_ = 8;
      }
      --free_;
      bytes_.back() |= static_cast<std::byte>(((value >> i) & 1U) << free_);
    }
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
  int free_ = 0;
};

/// Reads what BitWriter wrote. Throws ArchiveError naming `what` beyond the end.
class BitReader {
 public:
  BitReader(Bytes bytes, std::string what) : bytes_(bytes), what_(std::move(what)) {}

  std::uint64_t get(int bits) {
    std::uint64_t value = 0;
    for (int i = 0; i < bits; ++i, ++at_) {
      if (at_ / 8 >= bytes_.size()) throw ArchiveError(what_ + " are truncated");
      const auto byte = static_cast<unsigned>(bytes_[at_ / 8]);
      value = (value << 1) | ((byte >> (7 - at_ % 8)) & 1U);
    }
    return value;
  }

  /// The bytes that have been begun.
  ByteCount bytes_read() const { return ceil_div(at_, 8); }

  void expect_end() const {
    if (bytes_read() != bytes_.size()) throw ArchiveError(what_ + " hold unknown bytes at the end");
  }

 private:
  Bytes bytes_;
  std::string what_;
  BitCount at_ = 0;
};

}  // namespace cuszi

#pragma once

#include <bit>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/units.hpp"

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

  /// The number of bytes of which at least one bit has been read.
  ByteCount bytes_read() const { return ceil_div(at_, 8); }

  void expect_end() const {
    if (bytes_read() != bytes_.size()) throw ArchiveError(what_ + " hold unknown bytes at the end");
  }

 private:
  Bytes bytes_;
  std::string what_;
  BitCount at_ = 0;
};

/// Writes `value` in unary: `value` one bits, then a zero bit.
inline void put_unary(std::uint64_t value, BitWriter& out) {
  for (std::uint64_t i = 0; i < value; ++i) out.put(1, 1);
  out.put(0, 1);
}
/// Reads a number in unary, as put_unary() writes it. Throws ArchiveError if it is above `limit`.
inline unsigned get_unary(BitReader& in, unsigned limit) {
  unsigned value = 0;
  while (in.get(1) != 0) {
    if (++value > limit) throw ArchiveError("a number in a coder's head is too large");
  }
  return value;
}

/// A number below 2^32 - 1 in about twice the bits that it has (Elias 1975): with n bits of number
/// + 1, n - 1 in unary and those below the leading one.
inline int gamma_bits(std::uint32_t value) {
  return 2 * static_cast<int>(std::bit_width(value + 1)) - 1;
}
inline void put_gamma(std::uint32_t value, BitWriter& out) {
  const int below = static_cast<int>(std::bit_width(value + 1)) - 1;
  put_unary(static_cast<unsigned>(below), out);
  out.put((value + 1) & ((1U << below) - 1), below);
}
/// Reads a number that put_gamma() has written. Throws ArchiveError.
inline std::uint32_t get_gamma(BitReader& in) {
  constexpr unsigned most_below = 31;
  const unsigned below = get_unary(in, most_below);
  return static_cast<std::uint32_t>((1U << below) + in.get(static_cast<int>(below)) - 1);
}

}  // namespace cuszi

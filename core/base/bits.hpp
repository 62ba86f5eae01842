#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace cuszi {

inline constexpr int half_word = 32;  ///< bits

/// Appends bit fields to a byte string, most significant bit first.
class BitWriter {
 public:
  /// 0 to 64 bits; higher bits of `value` must be 0.
  void put(std::uint64_t value, int bits) {
    if (bits > half_word) {
      put(value >> half_word, bits - half_word);
      value &= (std::uint64_t{1} << half_word) - 1;
      bits = half_word;
    }
    pending_ = pending_ << bits | value;
    count_ += bits;
    for (; count_ >= 8; count_ -= 8)
      bytes_.push_back(static_cast<std::byte>(pending_ >> (count_ - 8)));
  }

  std::vector<std::byte> take() {
    if (count_ != 0) put(0, 8 - count_);
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
  std::uint64_t pending_ = 0;  ///< the lowest `count_` bits are not yet in `bytes_`
  int count_ = 0;              ///< below 8
};

/// Reads what BitWriter wrote. Reading past the end throws ArchiveError naming `what`.
class BitReader {
 public:
  BitReader(Bytes bytes, std::string what) : bytes_(bytes), what_(std::move(what)) {}

  /// 0 to 64 bits.
  std::uint64_t get(int bits) {
    if (bits > half_word) {
      const std::uint64_t high = get(bits - half_word);
      return high << half_word | get(half_word);
    }
    if (static_cast<BitCount>(bits) > left()) throw_truncated();
    const std::uint64_t value = bits == 0 ? 0 : window() >> (64 - bits);
    at_ += static_cast<BitCount>(bits);
    return value;
  }

  /// The number of one bits before the next zero bit, which is read too. Throws ArchiveError above
  /// `limit`.
  unsigned get_ones(unsigned limit) {
    for (unsigned ones = 0;;) {
      const BitCount seen = std::min<BitCount>(left(), window_bits);
      if (seen == 0) throw_truncated();
      const auto here = std::min(seen, static_cast<BitCount>(std::countl_one(window())));
      ones += static_cast<unsigned>(here);
      at_ += here;
      if (ones > limit) throw ArchiveError("a number in a coder's head is too large");
      if (here == seen) continue;
      ++at_;
      return ones;
    }
  }

  /// The one bits before the next zero bit, which is read too, or `most` of them.
  unsigned get_ones_up_to(unsigned most) {
    const unsigned ones = std::min(static_cast<unsigned>(std::countl_one(window())), most);
    get(static_cast<int>(ones < most ? ones + 1 : ones));
    return ones;
  }

  /// The bytes read so far, partly read ones included.
  ByteCount bytes_read() const { return ceil_div(at_, 8); }

  void expect_end() const {
    if (bytes_read() != bytes_.size()) throw ArchiveError(what_ + " hold unknown bytes at the end");
  }

 private:
  static constexpr BitCount window_bits = 57;  ///< of eight bytes, from any bit position

  BitCount left() const { return 8 * bytes_.size() - at_; }
  [[noreturn]] void throw_truncated() const { throw ArchiveError(what_ + " are truncated"); }

  /// The next window_bits bits, left-aligned; zeros past the end.
  std::uint64_t window() const {
    const std::byte* const next = bytes_.data() + at_ / 8;
    std::uint64_t word = 0;
    const std::size_t there = std::min<ByteCount>(bytes_.size() - at_ / 8, sizeof word);
    if (there == sizeof word) {
      std::memcpy(&word, next, sizeof word);
      return __builtin_bswap64(word) << (at_ % 8);
    }
    for (std::size_t i = 0; i < there; ++i)
      word |= static_cast<std::uint64_t>(next[i]) << (8 * (sizeof word - 1 - i));
    return word << (at_ % 8);
  }

  Bytes bytes_;
  std::string what_;
  BitCount at_ = 0;
};

/// `value` one bits, then a zero bit.
inline void put_unary(std::uint64_t value, BitWriter& out) {
  constexpr std::uint64_t ones = (std::uint64_t{1} << half_word) - 1;
  for (; value > half_word; value -= half_word) out.put(ones, half_word);
  out.put((ones >> (half_word - static_cast<int>(value))) << 1, static_cast<int>(value) + 1);
}
/// Reads what put_unary() wrote. Throws ArchiveError above `limit`.
inline unsigned get_unary(BitReader& in, unsigned limit) { return in.get_ones(limit); }

/// Elias gamma code (Elias 1975) of value + 1, below 2^32: n - 1 in unary, then the n - 1 bits
/// below the leading one.
inline int gamma_bits(std::uint32_t value) {
  return 2 * static_cast<int>(std::bit_width(value + 1)) - 1;
}
inline void put_gamma(std::uint32_t value, BitWriter& out) {
  const int below = static_cast<int>(std::bit_width(value + 1)) - 1;
  put_unary(static_cast<unsigned>(below), out);
  out.put((value + 1) & ((1U << below) - 1), below);
}
inline std::uint32_t get_gamma(BitReader& in) {
  constexpr unsigned most_below = 31;
  const unsigned below = get_unary(in, most_below);
  return static_cast<std::uint32_t>((1U << below) + in.get(static_cast<int>(below)) - 1);
}

}  // namespace cuszi

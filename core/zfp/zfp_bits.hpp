#pragma once

#include <bit>
#include <cstdint>

#include "core/base/hd.hpp"
#include "core/base/units.hpp"

namespace cuszi {

CUSZI_HD constexpr std::uint64_t low_bits(unsigned bits) {
  return bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
}

/// `word` must not be 0.
CUSZI_HD inline unsigned trailing_zeros(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__ffsll(static_cast<long long>(word))) - 1;
#else
  return static_cast<unsigned>(__builtin_ctzll(word));
#endif
}

/// Position of the highest one plus 1; 0 for 0.
CUSZI_HD inline int significant_bits(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return 64 - __clzll(static_cast<long long>(word));
#else
  return word == 0 ? 0 : 64 - __builtin_clzll(word);
#endif
}

CUSZI_HD inline unsigned count_ones(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__popcll(word));
#else
  return static_cast<unsigned>(std::popcount(word));
#endif
}

/// Position of the one with `before` ones below it, which must exist.
CUSZI_HD inline unsigned place_of_one(std::uint64_t word, unsigned before) {
  unsigned place = 0;
  for (unsigned half = 32; half > 0; half /= 2) {
    const unsigned ones = count_ones(word & low_bits(half));
    if (ones > before) continue;
    before -= ones;
    place += half;
    word >>= half;
  }
  return place;
}

/// Writes bits to 64-bit words, the first bit lowest, as zfp does. `Words` supports words[i] =
/// word.
template <class Words>
class ZfpBitWriter {
 public:
  CUSZI_HD explicit ZfpBitWriter(Words words) : words_(words) {}

  CUSZI_HD BitCount position() const { return BitCount{at_} * 64 + fill_; }

  /// Appends 0 to 64 bits; higher bits of `value` must be 0.
  CUSZI_HD void put(std::uint64_t value, unsigned bits) {
    word_ |= value << fill_;
    fill_ += bits;
    if (fill_ >= 64) {
      words_[at_++] = word_;
      fill_ -= 64;
      const unsigned written = bits - fill_;
      word_ = written == 64 ? 0 : value >> written;
    }
  }

  CUSZI_HD void put_zeros(BitCount bits) {
    for (; bits > 64; bits -= 64) put(0, 64);
    put(0, static_cast<unsigned>(bits));
  }

  CUSZI_HD void cut(BitCount position) {
    if (position >= this->position()) return;
    const auto word = static_cast<std::uint32_t>(position / 64);
    fill_ = static_cast<unsigned>(position % 64);
    word_ = (word < at_ ? std::uint64_t{words_[word]} : word_) & low_bits(fill_);
    at_ = word;
  }

  CUSZI_HD void flush() {
    if (fill_ > 0) words_[at_] = word_;
  }

 private:
  Words words_;
  std::uint64_t word_ = 0;
  std::uint32_t at_ = 0;
  unsigned fill_ = 0;
};

/// 64 bits of high:low from bit `shift` (0 to 63) on.
CUSZI_HD inline std::uint64_t window_of(std::uint64_t low, std::uint64_t high, unsigned shift) {
#if defined(__CUDA_ARCH__)
  const bool is_upper = shift >= 32;
  const auto first = static_cast<std::uint32_t>(is_upper ? low >> 32 : low);
  const auto middle = static_cast<std::uint32_t>(is_upper ? high : low >> 32);
  const auto last = static_cast<std::uint32_t>(is_upper ? high >> 32 : high);
  return std::uint64_t{__funnelshift_r(middle, last, shift)} << 32 |
         __funnelshift_r(first, middle, shift);
#else
  return (low >> shift) | ((high << 1) << (63 - shift));
#endif
}

/// Reads from any position; zeros past the end, which callers must check. Words are loaded early to
/// hide memory latency.
template <class Words>
class ZfpBitReader {
 public:
  CUSZI_HD ZfpBitReader(Words words, std::uint64_t count, BitCount position)
      : words_(words), count_(count), asked_(position / 64), used_(position % 64) {
    word_ = ask();
    next_ = ask();
    ahead_ = ask();
  }

  CUSZI_HD BitCount position() const { return (asked_ - 3) * 64 + used_; }

  CUSZI_HD std::uint64_t peek() const { return window_of(word_, next_, used_); }

  /// 64 bits, starting `bits` (0 to 64) after the position.
  CUSZI_HD std::uint64_t peek_behind(unsigned bits) const {
    const unsigned at = used_ + bits;
    const bool is_next = at >= 64;
    return window_of(is_next ? next_ : word_, is_next ? ahead_ : next_, at % 64);
  }

  /// 0 to 64 bits.
  CUSZI_HD void skip(unsigned bits) {
    used_ += bits;
    if (used_ >= 64) pass_word();
  }
  /// 0 to 128 bits.
  CUSZI_HD void skip_long(unsigned bits) {
    skip(bits);
    skip(0);
  }

  /// 0 to 64 bits.
  CUSZI_HD std::uint64_t get(unsigned bits) {
    const std::uint64_t value = peek() & low_bits(bits);
    skip(bits);
    return value;
  }

  CUSZI_HD void go_to(BitCount position) { *this = ZfpBitReader(words_, count_, position); }

 private:
  CUSZI_HD void pass_word() {
    used_ -= 64;
    word_ = next_;
    next_ = ahead_;
    ahead_ = ask();
  }

  CUSZI_HD std::uint64_t ask() {
    const std::uint64_t i = asked_++;
    return i < count_ ? words_[i] : 0;
  }

  Words words_;
  std::uint64_t count_;
  std::uint64_t asked_;  ///< words loaded, `word_` third to last
  unsigned used_;        ///< bits of `word_`
  std::uint64_t word_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t ahead_ = 0;
};

}  // namespace cuszi

#pragma once

#include <cstdint>

#include "core/base/hd.hpp"

namespace cuszi {

/// How words follow from the bits of values.
enum class WordOrder : std::uint8_t {
  by_value = 0,   ///< words ascend with values, so that differences of near values are small
  sign_last = 1,  ///< magnitudes, the sign in the lowest bit: for values without near neighbours
};

/// A bijection between the bits of floating-point values and words modulo 2^digits. Low bits that
/// are 0 in all values are 0 in all words.
template <class Word>
struct WordMap {
  static constexpr int digits = 8 * sizeof(Word);
  static constexpr Word top = Word{1} << (digits - 1);

  WordOrder order = WordOrder::by_value;
  int shift = 0;  ///< low bits that are 0 in all values, below digits
  Word base = 0;  ///< the word that becomes 0; a multiple of 2^shift

  CUSZI_HD constexpr Word low_bits() const { return (Word{1} << shift) - 1; }

  CUSZI_HD constexpr Word word_of(Word bits) const {
    const Word sign = bits >> (digits - 1);
    const Word word = order == WordOrder::sign_last ? bits << 1 | sign << shift
                                                    : bits ^ (sign != 0 ? ~low_bits() : top);
    return word - base;
  }
  CUSZI_HD constexpr Word bits_of(Word word) const {
    word += base;
    if (order == WordOrder::sign_last)
      return (word >> 1 & ~low_bits() & ~top) | (word >> shift) << (digits - 1);
    return word ^ ((word & top) != 0 ? top : ~low_bits());
  }
};

/// Differences modulo 2^digits are signed numbers, of which a token has magnitude and sign.
template <class Word>
CUSZI_HD constexpr bool is_negative(Word difference) {
  return (difference >> (WordMap<Word>::digits - 1)) != 0;
}
template <class Word>
CUSZI_HD constexpr Word magnitude_of_word(Word difference) {
  return is_negative(difference) ? Word{0} - difference : difference;
}
template <class Word>
CUSZI_HD constexpr Word signed_word(Word magnitude, bool negative) {
  return negative ? Word{0} - magnitude : magnitude;
}
/// Shifts the sign in.
template <class Word>
CUSZI_HD constexpr Word shifted_right(Word difference, int shift) {
  const Word sign = is_negative(difference) ? ~Word{0} : Word{0};
  return ((difference ^ sign) >> shift) ^ sign;
}

}  // namespace cuszi

#pragma once

#include <cstdint>
#include <type_traits>

#include "core/base/bit_width.hpp"
#include "core/base/hd.hpp"

namespace cuszi {

/// How words follow from the bits of values.
enum class WordOrder : std::uint8_t {
  by_value = 0,   ///< words ascend with values, so that differences of near values are small
  sign_last = 1,  ///< magnitudes, the sign in the lowest bit: for values without near neighbours
  multiples = 2,  ///< values are integers times a power of two, words the integers
  integers = 3,   ///< the bits are integers, mostly multiples of an odd one; words the quotients
};

/// What times an odd number is 1 modulo 2^digits: by Newton's method, which doubles right bits.
template <class Word>
CUSZI_HD constexpr Word inverse_of_odd(Word odd) {
  Word inverse = odd;  // right in three bits
  for (int right = 3; right < static_cast<int>(8 * sizeof(Word)); right *= 2)
    inverse *= 2 - odd * inverse;
  return inverse;
}

/// The parts of IEEE-754 values as integers: magnitude x 2^exponent.
template <class Word>
struct FloatParts {
  static constexpr int digits = 8 * sizeof(Word);
  static constexpr int mantissa_bits = digits == 32 ? 23 : 52;
  static constexpr int exponents = 1 << (digits - 1 - mantissa_bits);
  static constexpr Word hidden = Word{1} << mantissa_bits;
  static constexpr Word top = Word{1} << (digits - 1);

  Word magnitude;
  int exponent;  ///< at least 0: in units of the smallest subnormal

  CUSZI_HD static constexpr FloatParts of(Word bits) {
    const Word mantissa = bits & (hidden - 1);
    const int exponent = static_cast<int>((bits & ~top) >> mantissa_bits);
    if (exponent == 0) return {mantissa, 0};
    return {mantissa | hidden, exponent - 1};
  }
  /// The bits of the value; magnitudes with more bits than a mantissa lose the lowest.
  CUSZI_HD Word bits(bool negative) const {
    const int missing = mantissa_bits + 1 - static_cast<int>(bit_width_of(magnitude));
    const int up = missing < exponent ? missing : exponent;
    const Word mantissa = up >= 0 ? magnitude << up : magnitude >> -up;
    const Word field = mantissa < hidden ? 0 : static_cast<Word>(exponent - up + 1);
    return (negative ? top : Word{0}) | (field << mantissa_bits & ~top) | (mantissa & (hidden - 1));
  }
  CUSZI_HD static constexpr bool is_finite(Word bits) {
    return (bits & ~top) >> mantissa_bits != exponents - 1;
  }
};

/// A bijection between the bits of values and words modulo 2^digits.
template <class Word>
struct WordMap {
  static constexpr int digits = FloatParts<Word>::digits;
  static constexpr Word top = FloatParts<Word>::top;

  WordOrder order = WordOrder::by_value;
  /// Low bits that are 0 in all values and words, below digits; of multiples the exponent; of
  /// integers 0.
  int scale = 0;
  Word base = 0;    ///< the word that becomes 0; a multiple of 2^shift()
  Word factor = 1;  ///< of integers: odd

  CUSZI_HD constexpr int shift() const { return order == WordOrder::multiples ? 0 : scale; }
  CUSZI_HD constexpr Word low_bits() const { return (Word{1} << shift()) - 1; }
  constexpr bool is_possible() const {
    constexpr int scales[] = {digits, digits, FloatParts<Word>::exponents, 1};
    return scale < scales[static_cast<int>(order)] && factor % 2 != 0 && (base & low_bits()) == 0;
  }

  CUSZI_HD constexpr Word word_of(Word bits) const {
    if (order == WordOrder::integers) return bits * inverse_of_odd(factor) - base;
    const Word sign = bits >> (digits - 1);
    if (order == WordOrder::multiples) {
      const auto parts = FloatParts<Word>::of(bits);
      const int up = parts.magnitude == 0 ? 0 : parts.exponent - scale;
      const Word word = up >= 0 ? parts.magnitude << up : parts.magnitude >> -up;
      return (sign != 0 ? Word{0} - word : word) - base;
    }
    const Word word = order == WordOrder::sign_last ? bits << 1 | sign << scale
                                                    : bits ^ (sign != 0 ? ~low_bits() : top);
    return word - base;
  }
  CUSZI_HD Word bits_of(Word word) const {
    word += base;
    if (order == WordOrder::integers) return word * factor;
    const bool is_upper = (word & top) != 0;
    if (order == WordOrder::multiples)
      return FloatParts<Word>{is_upper ? Word{0} - word : word, scale}.bits(is_upper);
    if (order == WordOrder::sign_last)
      return (word >> 1 & ~low_bits() & ~top) | (word >> scale) << (digits - 1);
    return word ^ (is_upper ? top : ~low_bits());
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
  return static_cast<Word>(static_cast<std::make_signed_t<Word>>(difference) >> shift);
}

}  // namespace cuszi

#pragma once

#include <cstdint>

#include "core/base/bit_width.hpp"
#include "core/base/hd.hpp"
#include "core/coders/symbol_tables.hpp"
#include "core/lossless/word_map.hpp"

namespace cuszi {

// A block of up to 64 differences has a class, the octave of the sum of their magnitudes, which
// chooses the frequency table of their tokens. A token tells the octave of a magnitude relative to
// the class, near the mean also the next bit and the sign; raw bits tell the rest.

inline constexpr std::uint32_t word_block = 64;
inline constexpr std::uint32_t word_classes = token_places;

/// Sums magnitudes for the class of a block.
class ClassSum {
 public:
  CUSZI_HD void add(std::uint64_t magnitude) {
    sum_ += magnitude & low_part;
    high_ += magnitude / (low_part + 1);
  }
  /// Adds `count` times 2^32; below 2^56.
  CUSZI_HD void add_high(std::uint64_t count) {
    constexpr unsigned half = 32;
    sum_ += (count & ((std::uint64_t{1} << (low_width - half)) - 1)) << half;
    high_ += count >> (low_width - half);
  }
  /// 0: all are 0, and none is coded.
  CUSZI_HD std::uint32_t class_of_block() const {
    const std::uint64_t high = high_ + sum_ / (low_part + 1);
    const unsigned width = high != 0 ? bit_width_of(high) + low_width : bit_width_of(sum_);
    return width < word_classes ? width : word_classes - 1;
  }

 private:
  static constexpr unsigned low_width = 56;
  static constexpr std::uint64_t low_part = (std::uint64_t{1} << low_width) - 1;
  std::uint64_t sum_ = 0;
  std::uint64_t high_ = 0;  ///< in 2^low_width
};

/// The largest width in bits of a sum of a class. The last class has several.
CUSZI_HD constexpr unsigned octave_of_class(std::uint32_t number) {
  return number == word_classes - 1 ? 70 : number;
}

// Distances are the octaves that a magnitude is below that of its class.
// Tokens of fine distances have half octaves and signs.
inline constexpr unsigned first_fine_distance = 2;
inline constexpr unsigned first_coarse_distance = 10;
inline constexpr unsigned last_distance = 38;  ///< this token is that of all smaller ones, too
inline constexpr std::uint32_t first_fine_token = 1 + first_fine_distance;
inline constexpr std::uint32_t first_coarse_token =
    first_fine_token + 4 * (first_coarse_distance - first_fine_distance);
static_assert(first_coarse_token + last_distance - first_coarse_distance == token_places - 1);

/// What the raw bits of a token are added to.
struct WordTokenForm {
  std::uint64_t least = 0;    ///< magnitude
  std::uint8_t raw_bits = 0;  ///< the sign is the lowest, if the token does not tell it
  bool has_sign = false;      ///< the token tells it
  bool is_negative = false;
  bool exists = false;  ///< false if magnitudes of the class cannot have the token
};

CUSZI_HD constexpr WordTokenForm form_of_token(std::uint32_t token, unsigned octave) {
  if (token == 0) return {0, 0, true, false, true};
  const bool is_fine = token >= first_fine_token && token < first_coarse_token;
  const unsigned distance = is_fine ? first_fine_distance + (token - first_fine_token) / 4
                            : token < first_fine_token
                                ? token - 1
                                : first_coarse_distance + (token - first_coarse_token);
  if (distance >= octave || octave - distance > 64) return {};
  const unsigned width = octave - distance;
  const std::uint64_t leading = std::uint64_t{1} << (width - 1);
  if (token == token_places - 1)
    return {0, static_cast<std::uint8_t>(width + 1), false, false, true};
  if (!is_fine) return {leading, static_cast<std::uint8_t>(width), false, false, true};
  const std::uint32_t fine = token - first_fine_token;
  const bool is_upper = (fine & 2) != 0;
  if (width == 1) return {1, 0, true, (fine & 1) != 0, !is_upper};
  return {leading + (is_upper ? leading / 2 : 0), static_cast<std::uint8_t>(width - 2), true,
          (fine & 1) != 0, true};
}

/// The number that a token and its raw bits are.
template <class Word>
CUSZI_HD inline Word word_of_raw(const WordTokenForm& form, std::uint64_t raw) {
  const unsigned open = form.has_sign ? 0 : 1;
  const bool is_negative = form.is_negative || (open & raw) != 0;
  return signed_word(static_cast<Word>(form.least + (raw >> open)), is_negative);
}

struct WordToken {
  std::uint32_t token;
  std::uint32_t raw_bits;
  std::uint64_t raw;
};

/// Without branches: the lanes of a warp would take all of them.
template <class Word>
CUSZI_HD inline WordToken token_of_word(Word magnitude, bool negative, unsigned octave) {
  const bool is_zero = magnitude == 0;
  const unsigned width = bit_width_of(magnitude | 1);
  const unsigned distance = octave - width;
  const std::uint32_t sign = negative ? 1 : 0;
  const bool is_last = sizeof(Word) == 8 && distance >= last_distance;  // others have no such sum
  const bool is_fine = distance - first_fine_distance < first_coarse_distance - first_fine_distance;
  const unsigned open = is_fine ? (width < 2 ? 2 : width) - 2 : width - 1;
  const Word kept = is_last ? magnitude : magnitude & ((Word{1} << open) - 1);
  const Word raw = is_fine ? kept : kept << 1 | Word{sign};
  const std::uint32_t raw_bits = is_last ? octave - last_distance + 1 : is_fine ? open : width;
  const auto leading = static_cast<std::uint32_t>(magnitude >> open);  // of fine ones 1, 2 or 3
  const std::uint32_t half = leading >> 1 & leading & 1;
  const std::uint32_t fine = first_fine_token + 4 * (distance - first_fine_distance);
  const std::uint32_t coarse =
      distance + (distance < first_fine_distance ? 1 : first_coarse_token - first_coarse_distance);
  const std::uint32_t token = is_last   ? token_places - 1
                              : is_fine ? fine + 2 * half + sign
                                        : coarse;
  return {is_zero ? 0 : token, is_zero ? 0 : raw_bits, is_zero ? 0 : raw};
}

}  // namespace cuszi

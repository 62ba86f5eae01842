#pragma once

#include <cstdint>

#include "core/base/bit_width.hpp"
#include "core/base/hd.hpp"

namespace cuszi {

// Tokens: numbers below 16 directly, larger ones by exponent and one mantissa bit; raw bits hold
// the rest.

inline constexpr unsigned token_count = 64;
inline constexpr unsigned direct_tokens = 16;

struct Token {
  std::uint8_t token;
  std::uint8_t raw_bits;
  std::uint32_t raw;
};

/// `number` must be below 2^28.
CUSZI_HD inline Token token_of_number(std::uint32_t number) {
  if (number < direct_tokens) return {static_cast<std::uint8_t>(number), 0, 0};
  const std::uint32_t exponent = bit_width_of(number) - 1;
  const std::uint32_t open = exponent - 1;
  const std::uint32_t token = direct_tokens + 2 * (exponent - 4) + ((number >> open) & 1);
  return {static_cast<std::uint8_t>(token), static_cast<std::uint8_t>(open),
          number & ((1U << open) - 1)};
}
CUSZI_HD constexpr std::uint32_t raw_bits_of_number(std::uint32_t token) {
  return token < direct_tokens ? 0 : (token - direct_tokens) / 2 + 3;
}
CUSZI_HD constexpr std::uint32_t number_of(std::uint32_t token, std::uint32_t raw) {
  if (token < direct_tokens) return token;
  return (2 + ((token - direct_tokens) & 1)) << raw_bits_of_number(token) | raw;
}

// Sum of a table's frequencies.

inline constexpr int probability_bits = 12;
inline constexpr std::uint32_t probability_one = 1U << probability_bits;

}  // namespace cuszi

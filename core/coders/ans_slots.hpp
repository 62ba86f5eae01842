#pragma once

#include <cstdint>

#include "core/base/units.hpp"
#include "core/coders/ans_tokens.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi {

// Slots of a chain. A table's codes are direct or, if most are the centre, three lists: run lengths
// of centre codes with signs, run lengths of magnitude 1, magnitudes of at least 2.

enum class SlotKind : std::uint8_t {
  code,       ///< a quant-code
  gap,        ///< twice the centre codes before another code, plus 1 if that is below the centre
  inner_gap,  ///< codes of magnitude 1 before a larger one or an outlier
  magnitude,  ///< of the larger one; 0 for an outlier
};

inline constexpr unsigned outlier_token = 38;
inline constexpr std::uint32_t most_gap = (1U << 28) - 1;
inline constexpr std::uint32_t least_magnitude = 2;  ///< in SlotKind::magnitude

/// Distance of a code from the centre; 0 for an outlier.
CUSZI_HD inline std::uint32_t magnitude_of(QuantCode code, std::uint32_t centre) {
  if (code == outlier_code) return 0;
  return code < centre ? centre - code : code - centre;
}
/// Inverse of magnitude_of(). Codes beyond 16 bits, which no encoder writes, become outliers.
CUSZI_HD inline QuantCode code_of(std::uint32_t magnitude, bool negative, std::uint32_t centre) {
  const std::uint32_t code = negative ? centre - magnitude : centre + magnitude;
  return code <= 0xFFFF ? static_cast<QuantCode>(code) : outlier_code;
}

/// Value of a SlotKind::gap slot; at most most_gap zeros.
CUSZI_HD inline std::uint32_t gap_before(QuantCode code, std::uint32_t zeros,
                                         std::uint32_t centre) {
  const bool is_below = code != outlier_code && code < centre;
  return zeros << 1 | (is_below ? 1U : 0U);
}

CUSZI_HD inline Token token_of(SlotKind kind, std::uint32_t value, std::uint32_t centre) {
  if (kind == SlotKind::inner_gap) return token_of_number(value);
  if (kind == SlotKind::magnitude) {
    if (value == 0) return {outlier_token - least_magnitude, 0, 0};
    const Token token = token_of_number(value);
    return {static_cast<std::uint8_t>(token.token - least_magnitude), token.raw_bits, token.raw};
  }
  std::uint32_t sign = value & 1;
  std::uint32_t number = value >> 1;
  if (kind == SlotKind::code) {
    if (value == outlier_code) return {outlier_token, 0, 0};
    if (value == centre) return {0, 0, 0};
    sign = value < centre ? 1 : 0;
    number = sign != 0 ? centre - value : value - centre;
  }
  const Token token = token_of_number(number);
  return {token.token, static_cast<std::uint8_t>(token.raw_bits + 1), token.raw << 1 | sign};
}

/// Includes the sign, the lowest bit.
CUSZI_HD constexpr std::uint32_t raw_bits_of(SlotKind kind, std::uint32_t token) {
  switch (kind) {
    case SlotKind::code:
      return token == 0 || token == outlier_token ? 0 : raw_bits_of_number(token) + 1;
    case SlotKind::gap: return raw_bits_of_number(token) + 1;
    case SlotKind::inner_gap: return raw_bits_of_number(token);
    default:
      return token == outlier_token - least_magnitude ? 0
                                                      : raw_bits_of_number(token + least_magnitude);
  }
}

/// A token of the lowest frequency, and raw bits.
inline constexpr std::uint64_t most_code_bits =
    probability_bits + raw_bits_of(SlotKind::code, outlier_token - 1);

CUSZI_HD inline std::uint32_t value_of_slot(SlotKind kind, std::uint32_t token, std::uint32_t raw,
                                            std::uint32_t centre) {
  switch (kind) {
    case SlotKind::code:
      if (token == outlier_token) return outlier_code;
      return code_of(number_of(token, raw >> 1), (raw & 1) != 0, centre);
    case SlotKind::gap: return number_of(token, raw >> 1) << 1 | (raw & 1);
    case SlotKind::inner_gap: return number_of(token, raw);
    default:
      return token == outlier_token - least_magnitude ? 0 : number_of(token + least_magnitude, raw);
  }
}

CUSZI_HD constexpr unsigned tokens_of(SlotKind kind) {
  if (kind == SlotKind::code) return outlier_token + 1;
  return kind == SlotKind::magnitude ? outlier_token + 1 - least_magnitude : token_count;
}

// Interleaved rANS states in [2^16, 2^32) that share a string of 16-bit words. The encoder goes
// backwards, the decoder forwards; its final states carry raw bits.

inline constexpr std::uint32_t most_lanes = 32;
inline constexpr std::uint64_t slots_of_lane = 1024;
inline constexpr std::uint64_t slots_of_segment = most_lanes * slots_of_lane;

/// Slot i is slot i / lanes of lane i mod lanes.
CUSZI_HD inline std::uint32_t lanes_of(std::uint64_t slots) {
  return static_cast<std::uint32_t>(ceil_div(slots, slots_of_lane));
}

/// The lowest state. The decoder ends a lane in this, plus 16 raw bits in carrying lanes.
inline constexpr std::uint32_t lane_start = 1U << 16;
inline constexpr std::uint32_t carried_bits = 16;

/// Lanes that carry raw bits in their final state.
CUSZI_HD inline std::uint32_t carrying_lanes(std::uint32_t lanes, std::uint64_t raw_bits) {
  const std::uint64_t full = raw_bits / carried_bits;
  return full < lanes ? static_cast<std::uint32_t>(full) : lanes;
}

struct TokenShare {
  std::uint32_t frequency;
  std::uint32_t first;
};

CUSZI_HD inline bool spills_for_token(std::uint32_t state, std::uint32_t frequency) {
  return state >= std::uint64_t{frequency} << (32 - probability_bits);
}
CUSZI_HD inline std::uint32_t put_token(std::uint32_t state, const TokenShare& share) {
  return ((state / share.frequency) << probability_bits) + state % share.frequency + share.first;
}

/// Packs a decoder table entry: token, frequency and offset within it.
CUSZI_HD inline std::uint32_t decoder_entry(std::uint32_t token, std::uint32_t frequency,
                                            std::uint32_t place) {
  return token | frequency << 6 | place << 19;
}
CUSZI_HD inline std::uint32_t decoder_slot(std::uint32_t state) {
  return state & (probability_one - 1);
}
CUSZI_HD inline std::uint32_t token_of_entry(std::uint32_t entry) { return entry & 63U; }

/// May need a refill.
CUSZI_HD inline std::uint32_t take_token(std::uint32_t state, std::uint32_t entry) {
  return ((entry >> 6) & 0x1FFFU) * (state >> probability_bits) + (entry >> 19);
}

CUSZI_HD inline bool needs_refill(std::uint32_t state) { return state < lane_start; }
CUSZI_HD inline std::uint32_t refilled(std::uint32_t state, std::uint16_t word) {
  return state << 16 | word;
}

}  // namespace cuszi

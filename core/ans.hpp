#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "core/ans_tables.hpp"
#include "core/bytes.hpp"
#include "core/config.hpp"
#include "core/hd.hpp"
#include "core/quantizer.hpp"

namespace cuszi {

/// Interleaved range asymmetric numeral systems (Duda 2013; Giesen 2014) with static tables per
/// context, for any predictor's quant-codes.
struct AnsParams {
  static constexpr std::string_view name = "ans";
  static constexpr CoderId id = CoderId::ans;
  static constexpr bool uses_contexts = true;

  std::uint32_t centre = 0;  ///< the code of a prediction error of 0: the predictor's radius
  IndexKind index = IndexKind::hybrid;
  std::uint32_t partition = 32;

  /// What the user has chosen, for codes around `centre`.
  static AnsParams draft(const FrameConfig& config, std::uint32_t centre) {
    return {centre, config.index.kind, config.index.partition};
  }

  void write(ByteWriter& out) const;
  /// The inverse. Throws ArchiveError.
  static AnsParams read(ByteReader& in);
};

// Tokens: magnitudes below 16 directly, larger ones by exponent and one bit of mantissa. The sign
// and what a token leaves open are raw bits.

inline constexpr unsigned direct_tokens = 16;
inline constexpr unsigned outlier_token = 38;

struct Token {
  std::uint8_t token;
  std::uint8_t raw_bits;  ///< how many
  std::uint16_t raw;      ///< the magnitude's open bits above the sign, which is 1 below the centre
};

/// How a quant-code is written: as a token under a context, then its raw bits.
CUSZI_HD inline Token token_of(QuantCode code, std::uint32_t centre) {
  if (code == outlier_code) return {outlier_token, 0, 0};
  const std::int32_t delta = static_cast<std::int32_t>(code) - static_cast<std::int32_t>(centre);
  const std::uint32_t sign = delta < 0 ? 1 : 0;
  const auto magnitude = static_cast<std::uint32_t>(delta < 0 ? -delta : delta);
  if (magnitude < direct_tokens) {
    return {static_cast<std::uint8_t>(magnitude), static_cast<std::uint8_t>(magnitude != 0 ? 1 : 0),
            static_cast<std::uint16_t>(sign)};
  }
  const auto exponent = static_cast<std::uint32_t>(std::bit_width(magnitude)) - 1;
  const std::uint32_t open = exponent - 1;
  const std::uint32_t token = direct_tokens + 2 * (exponent - 4) + ((magnitude >> open) & 1);
  const std::uint32_t rest = magnitude & ((1U << open) - 1);
  return {static_cast<std::uint8_t>(token), static_cast<std::uint8_t>(open + 1),
          static_cast<std::uint16_t>(rest << 1 | sign)};
}

/// How many raw bits follow a token.
CUSZI_HD inline std::uint32_t raw_bits_of(std::uint32_t token) {
  if (token < direct_tokens) return token != 0 ? 1 : 0;
  return token == outlier_token ? 0 : (token - direct_tokens) / 2 + 4;
}

/// The inverse of token_of(); what no encoder writes becomes an outlier.
CUSZI_HD inline QuantCode code_of(std::uint32_t token, std::uint32_t raw, std::uint32_t centre) {
  if (token == outlier_token) return outlier_code;
  std::uint32_t magnitude = token;
  if (token >= direct_tokens) {
    const std::uint32_t exponent = (token - direct_tokens) / 2 + 4;
    magnitude = (2 + ((token - direct_tokens) & 1)) << (exponent - 1) | raw >> 1;
  }
  const std::uint32_t code = (raw & 1) != 0 ? centre - magnitude : centre + magnitude;
  return code <= 0xFFFF ? static_cast<QuantCode>(code) : outlier_code;
}

// Lanes: each has a state in [2^16, 2^32) and shares with the others a string of 16-bit words. The
// encoder goes through the symbols backwards and spills the low half of a state that would
// overflow; the decoder goes forwards and refills.

inline constexpr std::uint32_t most_lanes = 32;

/// Every lane starts (as the decoder ends) in this state.
inline constexpr std::uint32_t lane_start = 1U << 16;

/// What the encoder needs to know of a token: its frequency and the sum of those before it.
struct TokenShare {
  std::uint32_t frequency;
  std::uint32_t first;
};

/// Whether a state has to spill its low half before it takes a token of this frequency.
CUSZI_HD inline bool spills_for_token(std::uint32_t state, std::uint32_t frequency) {
  return state >= std::uint64_t{frequency} << (32 - probability_bits);
}
CUSZI_HD inline std::uint32_t put_token(std::uint32_t state, const TokenShare& share) {
  return ((state / share.frequency) << probability_bits) + state % share.frequency + share.first;
}

/// The same for the raw bits of a token, at least one.
CUSZI_HD inline bool spills_for_raw(std::uint32_t state, std::uint32_t raw_bits) {
  return state >= std::uint64_t{1} << (32 - raw_bits);
}
CUSZI_HD inline std::uint32_t put_raw(std::uint32_t state, const Token& token) {
  return state << token.raw_bits | token.raw;
}

/// What the lowest bits of a state say: token, frequency, and the place within it.
CUSZI_HD inline std::uint32_t decoder_entry(std::uint32_t token, std::uint32_t frequency,
                                            std::uint32_t place) {
  return token | frequency << 6 | place << 19;
}
CUSZI_HD inline std::uint32_t decoder_slot(std::uint32_t state) {
  return state & (probability_one - 1);
}
CUSZI_HD inline std::uint32_t token_of_entry(std::uint32_t entry) { return entry & 63U; }

/// The state without the token of its entry; it may have to be refilled.
CUSZI_HD inline std::uint32_t take_token(std::uint32_t state, std::uint32_t entry) {
  return ((entry >> 6) & 0x1FFFU) * (state >> probability_bits) + (entry >> 19);
}

/// The lowest raw bits of a state; what is left may have to be refilled.
CUSZI_HD inline std::uint32_t raw_of(std::uint32_t state, std::uint32_t raw_bits) {
  return static_cast<std::uint32_t>(state & ((std::uint64_t{1} << raw_bits) - 1));
}

CUSZI_HD inline bool needs_refill(std::uint32_t state) { return state < lane_start; }
CUSZI_HD inline std::uint32_t refilled(std::uint32_t state, std::uint16_t word) {
  return state << 16 | word;
}

// Significance: a string is cut into blocks; one flag says that all codes of a block are the
// centre.

inline constexpr std::uint64_t block_symbols = 64;
inline constexpr std::size_t flag_contexts = 48;

/// Flags are written as quant-codes around this centre: a quiet block, and one that is not.
inline constexpr QuantCode quiet_flag = 1;
inline constexpr QuantCode significant_flag = 2;

/// What a symbol's context, by its bucket, adds to the sum that chooses its block's flag context.
CUSZI_HD inline std::uint32_t bucket_weight(std::uint8_t context) {
  const std::uint32_t bucket = context & 15U;
  return bucket == 0 ? 0 : 1U << (bucket - 1);
}

/// The context of a block's flag: the half octave of the sum over its symbols.
CUSZI_HD inline std::uint32_t flag_context(std::uint32_t sum) {
  if (sum < 2) return sum;
  const auto width = static_cast<std::uint32_t>(std::bit_width(sum));
  return 2 * (width - 1) + ((sum >> (width - 2)) & 1U);
}

}  // namespace cuszi

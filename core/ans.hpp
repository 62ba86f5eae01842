#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/bits.hpp"
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
  static AnsParams draft(const HuffmanConfig& config, std::uint32_t centre) {
    return {centre, config.index, config.partition};
  }

  void write(ByteWriter& out) const;
  /// The inverse. Throws ArchiveError.
  static AnsParams read(ByteReader& in);
};

// Tokens: magnitudes below 16 directly, larger ones by exponent and one bit of mantissa. The sign
// and what a token leaves open are raw bits.

inline constexpr unsigned direct_tokens = 16;
inline constexpr unsigned outlier_token = 38;
inline constexpr unsigned token_count = 39;

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

// Tables.

inline constexpr int probability_bits = 12;
inline constexpr std::uint32_t probability_one = 1U << probability_bits;

/// Frequencies of the tokens, of sum probability_one, as they are stored: the commonest token gets
/// what the others leave; those have an exponent (its difference to the one before, in unary) and
/// the highest bits of the mantissa.
struct FrequencyTable {
  std::array<std::uint16_t, token_count> frequencies{};
  unsigned commonest = 0;
  unsigned last = 0;  ///< token with a frequency
  int precision = 0;  ///< how many mantissa bits
};

/// How often each token occurs in a context.
using Counts = std::array<std::uint64_t, token_count>;

/// Costs are integers, in units of 2^-16 bits, so that every backend decides alike.
using Cost = std::uint64_t;
inline constexpr int cost_bits = 16;

/// The binary logarithm of x > 0 in units of 2^-cost_bits, by a table of 2^12 mantissas.
std::uint32_t log2_of(std::uint64_t x);

/// Static tables of a stream: contexts that are told apart at a loss share one.
struct ContextTables {
  std::vector<std::uint8_t> table_of;  ///< [context]
  std::vector<FrequencyTable> tables;

  /// Tables for these counts per context (at least one), neighbouring contexts merged while that
  /// saves bits.
  static ContextTables fit(std::span<const Counts> counts);

  /// What tables and symbols (without raw bits) cost.
  Cost cost(std::span<const Counts> counts) const;

  void write(BitWriter& out) const;
  /// The inverse, for a stream of so many contexts (at least one). Throws ArchiveError.
  static ContextTables read(BitReader& in, std::size_t contexts);
};

// Streams.

/// How a stream is cut: into segments that are decoded independently, each by lanes that take turns
/// symbol by symbol and share one string of 16-bit words.
struct StreamLayout {
  std::uint64_t symbols = 0;
  int log_lanes = 0;    ///< 0..5
  int log_segment = 0;  ///< symbols per segment, 0..62

  std::uint32_t lanes() const { return 1U << log_lanes; }
  std::uint64_t segment() const { return std::uint64_t{1} << log_segment; }
  std::uint64_t segments() const { return ceil_div(symbols, segment()); }

  /// As many lanes and segments as states may cost about 1.5 % of `payload_bits`; one segment
  /// without an index.
  static StreamLayout choose(IndexKind index, std::uint64_t symbols, std::uint64_t payload_bits);

  void write(ByteWriter& out) const;
  /// The inverse, for a stream of so many symbols. Throws ArchiveError.
  static StreamLayout read(ByteReader& in, std::uint64_t symbols);
};

/// Every lane starts (as the decoder ends) in this state; states are in [2^16, 2^32).
inline constexpr std::uint32_t lane_start = 1U << 16;

// Significance of blocks: one flag says that all codes of a block are the centre.

inline constexpr std::uint64_t block_symbols = 64;
inline constexpr std::size_t flag_contexts = 48;

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

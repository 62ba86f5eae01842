#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/bits.hpp"
#include "core/base/cost.hpp"
#include "core/coders/ans_tokens.hpp"

namespace cuszi {

using Counts = std::array<std::uint64_t, token_count>;

/// Heavy-tailed: P(number >= x) = (h / (h + x))^(2^shape), with h = 2^(scale / 2) / 16. Fits gaps
/// between clusters.
struct TokenModel {
  static constexpr int scale_bits = 6;
  static constexpr int shape_bits = 2;

  unsigned scale = 0;
  unsigned shape = 0;
};

/// Token frequencies of sum probability_one. Explicit ones store the exponent's difference to the
/// previous one (unary) and the top mantissa bit; the commonest token has the remainder.
struct FrequencyTable {
  std::array<std::uint16_t, token_count> frequencies{};
  unsigned last = 0;  ///< largest token
  std::optional<TokenModel> model;
  unsigned commonest = 0;  ///< without a model

  /// The table of the lowest cost() for these counts.
  static FrequencyTable fit(const Counts& counts);
  /// Bits of the table and the tokens, without raw bits.
  Cost cost(const Counts& counts) const;

  void write(BitWriter& out) const;
  /// Throws ArchiveError for tokens from `tokens` on.
  static FrequencyTable read(BitReader& in, unsigned tokens);
};

struct ContextTables {
  std::vector<std::uint8_t> table_of;  ///< [context]
  std::vector<FrequencyTable> tables;

  /// Merges neighbouring contexts while that saves bits. Needs at least one context.
  static ContextTables fit(std::span<const Counts> counts);

  Cost cost(std::span<const Counts> counts) const;
};

}  // namespace cuszi

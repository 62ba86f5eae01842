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

/// How often each token occurs.
using Counts = std::array<std::uint64_t, token_count>;

/// A falling distribution of numbers that takes two small ones to tell: that a number is x or more
/// has probability (h / (h + x))^(2^shape), h being 2^(scale / 2) sixteenths. Heavy tails are what
/// gaps between clusters have.
struct TokenModel {
  static constexpr int scale_bits = 6;
  static constexpr int shape_bits = 2;

  unsigned scale = 0;
  unsigned shape = 0;
};

/// Frequencies of the tokens, of sum probability_one, as they are stored: by a model; or each,
/// where the commonest token gets what the others leave, and those have an exponent (its difference
/// to the one before, in unary) and the highest bits of the mantissa.
struct FrequencyTable {
  std::array<std::uint16_t, token_count> frequencies{};
  unsigned last = 0;  ///< token with a frequency
  std::optional<TokenModel> model;
  unsigned commonest = 0;  ///< without a model
  int precision = 0;       ///< without a model: how many mantissa bits

  /// The table that costs least, together with the tokens that occur so often.
  static FrequencyTable fit(const Counts& counts);
  /// What the table and these tokens (without raw bits) cost.
  Cost cost(const Counts& counts) const;

  void write(BitWriter& out) const;
  /// Reads a table, as write() writes it, of tokens below `tokens`. Throws ArchiveError.
  static FrequencyTable read(BitReader& in, unsigned tokens);
};

/// Which contexts share a table: those that are told apart at a loss.
struct ContextTables {
  std::vector<std::uint8_t> table_of;  ///< [context]
  std::vector<FrequencyTable> tables;

  /// For these counts per context (at least one), neighbouring contexts merged while that saves
  /// bits.
  static ContextTables fit(std::span<const Counts> counts);

  /// What tables and tokens (without raw bits) cost.
  Cost cost(std::span<const Counts> counts) const;
};

}  // namespace cuszi

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/bits.hpp"
#include "core/cost.hpp"

namespace cuszi {

/// How many tokens an ANS stream is made of (core/ans.hpp).
inline constexpr unsigned token_count = 39;

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

}  // namespace cuszi

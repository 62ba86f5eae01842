#pragma once

#include <cstdint>

#include "core/base/bit_width.hpp"
#include "core/base/cost.hpp"
#include "core/cells/blocks.hpp"
#include "core/cells/chain.hpp"

namespace cuszi {

// Frequency tables of `cells`: one of tokens for each class but 0, one of classes for each context.
// A frame's head has those that pay for themselves; others are defaults of the format.

/// The frequencies of the symbols of a table, whose sum is cells_probability_one.
struct CellTable {
  std::uint16_t frequencies[token_places];
  std::uint8_t rest;  ///< the symbol that has what the others leave
  bool is_default;
};

struct CellsTables {
  CellTable codes[class_count];    ///< of tokens, by class; none is coded in class 0
  CellTable classes[class_count];  ///< of classes, by context
};

/// The default tables.
const CellsTables& default_tables();

/// An explicit table has frequencies of three significant bits. One symbol, the rest, has what the
/// others leave: in tables of tokens that of 0, where a sign changes no frequency; in those of
/// classes the commonest.
CUSZI_HD inline std::uint32_t rounded_frequency(std::uint32_t frequency) {
  const unsigned width = bit_width_of(frequency);
  if (width <= 3) return frequency;
  const unsigned open = width - 3;
  return (frequency + (1U << (open - 1))) >> open << open;
}
/// Whether a token is that of the token before with the other sign.
CUSZI_HD constexpr bool is_mirrored(std::uint32_t token) {
  return token % 2 == 0 && token > 0 && token < small_tokens;
}

/// The commonest of some symbols, the first of several.
template <class Count>
CUSZI_HD inline std::uint32_t commonest_symbol(const Count* counts) {
  std::uint32_t commonest = 0;
  for (std::uint32_t i = 1; i < token_places; ++i)
    if (counts[i] > counts[commonest]) commonest = i;
  return commonest;
}
template <class Count>
CUSZI_HD inline std::uint32_t rest_symbol(const Count* counts, bool is_of_codes) {
  return is_of_codes ? 0 : commonest_symbol(counts);
}

/// The frequencies of an explicit table for symbols with these counts, of which one at least is
/// not 0. What rounding takes or adds is made up for by the symbols behind, and by the rest.
template <class Count>
CUSZI_HD inline void fit_frequencies(const Count* counts, bool is_of_codes,
                                     std::uint16_t* frequencies) {
  constexpr int fraction = 8;
  const std::uint32_t rest_at = rest_symbol(counts, is_of_codes);
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < token_places; ++i) total += counts[i];
  std::int64_t owed = 0;
  std::int32_t rest = cells_probability_one;
  std::uint32_t alike = 1;
  for (std::uint32_t i = 0; i < token_places; i += alike) {
    alike = is_of_codes && i + 1 < small_tokens && is_mirrored(i + 1) ? 2 : 1;
    frequencies[i] = 0;
    std::uint64_t count = counts[i];
    if (alike == 2) {
      frequencies[i + 1] = 0;
      count = (count + counts[i + 1] + 1) / 2;
    }
    if (i == rest_at || count == 0) continue;
    const auto ideal =
        static_cast<std::int64_t>((count << (cells_probability_bits + fraction)) / total);
    const std::int64_t most = ideal / 8;
    const std::int64_t wanted = ideal + (owed > most ? most : owed < -most ? -most : owed);
    const auto whole = static_cast<std::uint32_t>((wanted + (1 << (fraction - 1))) >> fraction);
    const std::uint32_t frequency = whole == 0 ? 1 : rounded_frequency(whole);
    owed += alike * (ideal - (std::int64_t{frequency} << fraction));
    for (std::uint32_t k = 0; k < alike; ++k)
      frequencies[i + k] = static_cast<std::uint16_t>(frequency);
    rest -= static_cast<std::int32_t>(alike * frequency);
  }
  while (rest < 1) {  // halves the largest, with its mirror image
    const std::uint32_t largest = commonest_symbol(frequencies);
    const std::uint16_t half = frequencies[largest] / 2;
    const bool has_mirror = is_of_codes && is_mirrored(largest + 1);
    for (std::uint32_t k = 0; k < (has_mirror ? 2U : 1U); ++k) {
      rest += frequencies[largest + k] - half;
      frequencies[largest + k] = half;
    }
  }
  frequencies[rest_at] = static_cast<std::uint16_t>(rest);
}

/// What an explicit table looks like: the last symbol and, of classes, the rest, in 6 bits each;
/// then the width in bits of each symbol's frequency up to the last, but for the rest and mirrored
/// tokens, as a code of its difference to the width before (at first first_width); up to two bits
/// below the first.
inline constexpr int table_symbol_bits = 6;
inline constexpr int table_width_bits = 4;
inline constexpr unsigned first_width = 10;
CUSZI_HD inline int mantissa_bits_of(unsigned width) { return width < 2 ? 0 : width == 2 ? 1 : 2; }
/// The ones of a width's code, before a zero: 0 for the width before, 1 for one less, 2 for one
/// more, 3 for two less. Four ones, and no zero, stand before any other width.
CUSZI_HD inline int ones_of_width(unsigned before, unsigned width) {
  if (width == before) return 0;
  if (width + 1 == before) return 1;
  if (width == before + 1) return 2;
  return width + 2 == before ? 3 : 4;
}
inline constexpr int most_width_ones = 4;
CUSZI_HD inline unsigned width_of_ones(unsigned before, int ones) {
  return ones == 0 ? before : ones == 1 ? before - 1 : ones == 2 ? before + 1 : before - 2;
}

/// Calls each(symbol, width before, width) for the symbols that an explicit table writes.
template <class Each>
CUSZI_HD inline void for_each_written(const std::uint16_t* frequencies, std::uint32_t rest,
                                      bool is_of_codes, const Each& each) {
  std::uint32_t last = token_places - 1;
  while (last > 0 && (frequencies[last] == 0 || last == rest)) --last;
  unsigned before = first_width;
  for (std::uint32_t i = 0; i <= last; ++i) {
    if (i == rest || (is_of_codes && is_mirrored(i))) continue;
    const unsigned width = bit_width_of(std::uint32_t{frequencies[i]});
    each(i, before, width);
    before = width;
  }
}

/// What symbols with these counts cost by a table, without the table. Every symbol that there is
/// must have a frequency.
template <class Count>
CUSZI_HD inline Cost cost_by_table(const Count* counts, const std::uint16_t* frequencies) {
  Cost cost = 0;
  for (std::uint32_t i = 0; i < token_places; ++i) {
    if (counts[i] == 0) continue;
    const Cost each =
        (Cost{cells_probability_bits} << cost_bits) - log2_of(std::uint64_t{frequencies[i]});
    cost += counts[i] * each;
  }
  return cost;
}
CUSZI_HD inline std::uint32_t explicit_table_bits(const std::uint16_t* frequencies,
                                                  std::uint32_t rest, bool is_of_codes) {
  std::uint32_t bits = static_cast<std::uint32_t>(table_symbol_bits * (is_of_codes ? 1 : 2));
  for_each_written(frequencies, rest, is_of_codes,
                   [&](std::uint32_t /*symbol*/, unsigned before, unsigned width) {
                     const int ones = ones_of_width(before, width);
                     bits += static_cast<std::uint32_t>(
                         (ones < most_width_ones ? ones + 1 : ones + table_width_bits) +
                         mantissa_bits_of(width));
                   });
  return bits;
}

/// The cheaper of an explicit and the default table; the default one on ties and where there are no
/// symbols. Returns the cost of the symbols and their table.
template <class Count>
CUSZI_HD inline Cost choose_table(const Count* counts, const std::uint16_t* defaults,
                                  bool is_of_codes, CellTable& table) {
  Cost cost = cost_by_table(counts, defaults);
  table.is_default = true;
  table.rest = static_cast<std::uint8_t>(rest_symbol(counts, is_of_codes));
  if (cost != 0) {
    fit_frequencies(counts, is_of_codes, table.frequencies);
    const std::uint32_t bits = explicit_table_bits(table.frequencies, table.rest, is_of_codes);
    const Cost fitted = cost_by_table(counts, table.frequencies) + (Cost{bits} << cost_bits);
    table.is_default = cost <= fitted;
    if (!table.is_default) cost = fitted;
  }
  if (table.is_default)
    for (std::uint32_t i = 0; i < token_places; ++i) table.frequencies[i] = defaults[i];
  return cost;
}

}  // namespace cuszi

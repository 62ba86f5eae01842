#pragma once

#include <cstdint>

#include "core/base/bit_width.hpp"
#include "core/base/cost.hpp"
#include "core/base/hd.hpp"

namespace cuszi {

class BitReader;
class BitWriter;

// Frequency tables of interleaved rANS with up to 64 symbols, small enough that many fit the fast
// memory of a processor. Signed tables are of tokens whose first come in pairs of signs; both
// tokens of a pair have the same frequency.

inline constexpr std::uint32_t token_places = 64;  ///< symbols of a table at most
inline constexpr std::uint32_t small_tokens = 31;  ///< of signed tables: 0 and pairs of signs

/// Ten bits, so that a decoder's entries of all tables fit the shared memory of a multiprocessor.
inline constexpr int table_probability_bits = 10;
inline constexpr std::uint32_t table_probability_one = 1U << table_probability_bits;

/// What an encoder needs to know of a symbol.
struct SymbolShare {
  std::uint32_t frequency;
  std::uint32_t first;  ///< the sum of the frequencies of symbols before

  CUSZI_HD bool spills(std::uint32_t state) const {
    return state >= std::uint64_t{frequency} << (32 - table_probability_bits);
  }
  CUSZI_HD std::uint32_t put(std::uint32_t state) const {
    return ((state / frequency) << table_probability_bits) + state % frequency + first;
  }
};

/// The state after its lowest bits, which stand for a symbol with this share, were taken.
CUSZI_HD inline std::uint32_t without_symbol(std::uint32_t state, const SymbolShare& share) {
  return share.frequency * (state >> table_probability_bits) +
         (state & (table_probability_one - 1)) - share.first;
}

/// The frequencies of the symbols of a table, whose sum is table_probability_one.
struct SymbolTable {
  std::uint16_t frequencies[token_places];
  std::uint8_t rest;  ///< the symbol that has what the others leave
  bool is_default;
};

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
CUSZI_HD inline std::uint32_t rest_symbol(const Count* counts, bool is_signed) {
  return is_signed ? 0 : commonest_symbol(counts);
}

/// How many symbols share the frequency of this one: two if it begins a pair.
CUSZI_HD constexpr std::uint32_t pair_size(std::uint32_t symbol, bool is_signed) {
  return is_signed && symbol + 1 < small_tokens && is_mirrored(symbol + 1) ? 2 : 1;
}
/// How often a symbol comes; of one that begins a pair, the mean of both, half up.
template <class Count>
CUSZI_HD inline std::uint64_t mean_count(const Count* counts, std::uint32_t symbol,
                                         bool is_signed) {
  if (pair_size(symbol, is_signed) == 1) return counts[symbol];
  return (std::uint64_t{counts[symbol]} + counts[symbol + 1] + 1) / 2;
}

inline constexpr int ideal_fraction = 8;  ///< bits of an ideal frequency behind the point
/// The frequency that a symbol has before it is rounded.
template <class Count>
CUSZI_HD inline std::uint32_t ideal_frequency(const Count* counts, std::uint64_t total,
                                              std::uint32_t symbol, bool is_signed) {
  return static_cast<std::uint32_t>(
      (mean_count(counts, symbol, is_signed) << (table_probability_bits + ideal_fraction)) / total);
}

/// Rounds the frequencies of an explicit table, but for that of the rest: calls store(symbol,
/// frequency) for those that are not 0, given is_there(symbol), whether its mean count is not 0,
/// and ideal_of(symbol). What rounding takes or adds is made up for by the symbols behind. Returns
/// what the others leave for the rest, which may be too little.
template <class IsThere, class IdealOf, class Store>
CUSZI_HD inline std::int32_t round_frequencies(std::uint32_t rest_at, const IsThere& is_there,
                                               const IdealOf& ideal_of, bool is_signed,
                                               const Store& store) {
  std::int64_t owed = 0;
  std::int32_t rest = table_probability_one;
  std::uint32_t alike = 1;
  for (std::uint32_t i = 0; i < token_places; i += alike) {
    alike = pair_size(i, is_signed);
    if (i == rest_at || !is_there(i)) continue;
    const std::int64_t ideal = ideal_of(i);
    const std::int64_t most = ideal / 8;
    const std::int64_t wanted = ideal + (owed > most ? most : owed < -most ? -most : owed);
    const auto whole =
        static_cast<std::uint32_t>((wanted + (1 << (ideal_fraction - 1))) >> ideal_fraction);
    const std::uint32_t frequency = whole == 0 ? 1 : rounded_frequency(whole);
    owed += alike * (ideal - (std::int64_t{frequency} << ideal_fraction));
    rest -= static_cast<std::int32_t>(alike * frequency);
    for (std::uint32_t k = 0; k < alike; ++k) store(i + k, static_cast<std::uint16_t>(frequency));
  }
  return rest;
}
/// Stores the frequency of the rest, which the others leave. If that is below 1, the largest ones
/// are halved first.
CUSZI_HD inline void give_rest(std::uint32_t rest_at, std::int32_t rest, bool is_signed,
                               std::uint16_t* frequencies) {
  while (rest < 1) {  // with its mirror image, which has the same
    const std::uint32_t largest = commonest_symbol(frequencies);
    const std::uint16_t half = frequencies[largest] / 2;
    const bool has_mirror = is_signed && is_mirrored(largest + 1);
    for (std::uint32_t k = 0; k < (has_mirror ? 2U : 1U); ++k) {
      rest += frequencies[largest + k] - half;
      frequencies[largest + k] = half;
    }
  }
  frequencies[rest_at] = static_cast<std::uint16_t>(rest);
}
/// The frequencies of an explicit table for symbols with these counts, of which one at least is
/// not 0.
template <class Count>
inline void fit_frequencies(const Count* counts, bool is_signed, std::uint16_t* frequencies) {
  const std::uint32_t rest_at = rest_symbol(counts, is_signed);
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < token_places; ++i) {
    total += counts[i];
    frequencies[i] = 0;
  }
  const std::int32_t rest = round_frequencies(
      rest_at, [&](std::uint32_t symbol) { return mean_count(counts, symbol, is_signed) != 0; },
      [&](std::uint32_t symbol) { return ideal_frequency(counts, total, symbol, is_signed); },
      is_signed,
      [&](std::uint32_t symbol, std::uint16_t frequency) { frequencies[symbol] = frequency; });
  give_rest(rest_at, rest, is_signed, frequencies);
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

/// The bits of a symbol's frequency, given the width before and its own.
CUSZI_HD inline std::uint32_t bits_of_width(unsigned before, unsigned width) {
  const int ones = ones_of_width(before, width);
  return static_cast<std::uint32_t>((ones < most_width_ones ? ones + 1 : ones + table_width_bits) +
                                    mantissa_bits_of(width));
}
/// The bits of an explicit table before those of its frequencies.
CUSZI_HD constexpr std::uint32_t bits_before_widths(bool is_signed) {
  return static_cast<std::uint32_t>(table_symbol_bits) * (is_signed ? 1 : 2);
}

/// The last symbol that an explicit table writes, or 0.
CUSZI_HD inline std::uint32_t last_written(const std::uint16_t* frequencies, std::uint32_t rest,
                                           bool is_signed) {
  std::uint32_t last = token_places - 1;
  while (last > 0 && (frequencies[last] == 0 || last == rest)) --last;
  return is_signed && is_mirrored(last) ? last - 1 : last;
}

/// Calls each(symbol, width before, width) for the symbols that an explicit table writes.
template <class Each>
CUSZI_HD inline void for_each_written(const std::uint16_t* frequencies, std::uint32_t rest,
                                      bool is_signed, const Each& each) {
  const std::uint32_t last = last_written(frequencies, rest, is_signed);
  unsigned before = first_width;
  for (std::uint32_t i = 0; i <= last; ++i) {
    if (i == rest || (is_signed && is_mirrored(i))) continue;
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
        (Cost{table_probability_bits} << cost_bits) - log2_of(std::uint64_t{frequencies[i]});
    cost += counts[i] * each;
  }
  return cost;
}
CUSZI_HD inline std::uint32_t explicit_table_bits(const std::uint16_t* frequencies,
                                                  std::uint32_t rest, bool is_signed) {
  std::uint32_t bits = bits_before_widths(is_signed);
  for_each_written(frequencies, rest, is_signed,
                   [&](std::uint32_t /*symbol*/, unsigned before, unsigned width) {
                     bits += bits_of_width(before, width);
                   });
  return bits;
}

/// The cheaper of an explicit and the default table; the default one on ties and where there are no
/// symbols. Returns the cost of the symbols and their table.
template <class Count>
inline Cost choose_table(const Count* counts, const std::uint16_t* defaults, bool is_signed,
                         SymbolTable& table) {
  Cost cost = cost_by_table(counts, defaults);
  table.is_default = true;
  table.rest = static_cast<std::uint8_t>(rest_symbol(counts, is_signed));
  if (cost != 0) {
    fit_frequencies(counts, is_signed, table.frequencies);
    const std::uint32_t bits = explicit_table_bits(table.frequencies, table.rest, is_signed);
    const Cost fitted = cost_by_table(counts, table.frequencies) + (Cost{bits} << cost_bits);
    table.is_default = cost <= fitted;
    if (!table.is_default) cost = fitted;
  }
  if (table.is_default)
    for (std::uint32_t i = 0; i < token_places; ++i) table.frequencies[i] = defaults[i];
  return cost;
}

/// A SymbolShare that puts symbols without a division. By default it is that of a symbol that is
/// certain, which changes no state.
///
/// With 2^(w-1) < f <= 2^w, floor(x / f) is floor((x m + a) / 2^(w+31)), where m is 2^(w+31) / f
/// rounded up and a = 0, or rounded down and a = m. The nearer one is exact for f <= 1024, since
/// x < 2^22 f once a state has spilled.
struct PackedSymbolShare {
  std::uint32_t reciprocal = 1U << 31;
  /// From the lowest on: frequency, first, the shift of the quotient; the highest: a is m.
  std::uint32_t bits = table_probability_one | (table_probability_bits - 1) << shift_at;

  CUSZI_HD static PackedSymbolShare of(const SymbolShare& share) {
    if (share.frequency == 0) return {};
    const std::uint32_t f = share.frequency;
    const std::uint32_t width = bit_width_of(f - 1);
    const std::uint32_t low = f | share.first << first_at;
    if (width == 0) return {~0U, low | is_added};  // (x + 1) (1 - 2^-32) for x
    const std::uint64_t one = std::uint64_t{1} << (width + 31);
    const std::uint64_t rest = one % f;
    const bool rounds_up = rest > f / 2;
    return {static_cast<std::uint32_t>(one / f) + (rounds_up ? 1U : 0U),
            low | (width - 1) << shift_at | (rest == 0 || rounds_up ? 0U : is_added)};
  }
  CUSZI_HD std::uint32_t frequency() const { return bits & (2 * table_probability_one - 1); }
  /// The share of a symbol and the next one, which is as frequent, as one.
  CUSZI_HD PackedSymbolShare of_pair() const {
    return {reciprocal, bits + frequency() + (1U << shift_at)};
  }
  CUSZI_HD bool spills(std::uint32_t state) const {
    return state > (frequency() << (32 - table_probability_bits)) - 1;
  }
  CUSZI_HD std::uint32_t put(std::uint32_t state) const {
    const std::uint64_t added = (bits & is_added) != 0 ? reciprocal : 0;
    const auto high = static_cast<std::uint32_t>((std::uint64_t{state} * reciprocal + added) >> 32);
    const std::uint32_t quotient = high >> (bits >> shift_at & shift_mask);
    return state + (bits >> first_at & (table_probability_one - 1)) +
           quotient * (table_probability_one - frequency());
  }

 private:
  static constexpr unsigned first_at = table_probability_bits + 1;
  static constexpr unsigned shift_at = first_at + table_probability_bits;
  static constexpr std::uint32_t shift_mask = 15;
  static constexpr std::uint32_t is_added = 1U << 31;
};

void write_table(const SymbolTable& table, bool is_signed, BitWriter& out);

/// Throws ArchiveError if the table has a symbol that is not below `symbols`, or sums to too much.
SymbolTable read_table(BitReader& in, const SymbolTable& defaults, bool is_signed,
                       std::uint32_t symbols);

/// Codes that fall off by a constant ratio from one magnitude to the next, for default tables.
class FallingCodes {
 public:
  /// So many codes whose magnitudes have this sum.
  FallingCodes(std::uint64_t codes, std::uint64_t sum);
  /// How frequent a magnitude is, where that of magnitude 0 is 2^16.
  std::uint64_t share_of(std::uint32_t magnitude) const;

 private:
  std::uint64_t ratio_;  ///< in 2^-16
};

}  // namespace cuszi

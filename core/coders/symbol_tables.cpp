#include "core/coders/symbol_tables.hpp"

#include "core/base/bits.hpp"

namespace cuszi {

namespace {

unsigned read_width(BitReader& in, unsigned before) {
  const auto ones = static_cast<int>(in.get_ones_up_to(most_width_ones));
  const unsigned width = ones < most_width_ones ? width_of_ones(before, ones)
                                                : static_cast<unsigned>(in.get(table_width_bits));
  if (width > table_probability_bits)
    throw ArchiveError("a frequency of a symbol table is too large");
  return width;
}

std::uint64_t integer_root(std::uint64_t square) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0; bit >>= 1)
    if ((root | bit) * (root | bit) <= square) root |= bit;
  return root;
}

/// A share of 2^16 to a power.
std::uint64_t power_of_share(std::uint64_t share, std::uint32_t exponent) {
  std::uint64_t power = 1U << 16;
  for (; exponent != 0; exponent >>= 1, share = share * share >> 16)
    if ((exponent & 1) != 0) power = power * share >> 16;
  return power;
}

}  // namespace

void write_table(const SymbolTable& table, bool is_signed, BitWriter& out) {
  out.put(table.is_default ? 1 : 0, 1);
  if (table.is_default) return;
  if (!is_signed) out.put(table.rest, table_symbol_bits);
  out.put(last_written(table.frequencies, table.rest, is_signed), table_symbol_bits);
  for_each_written(
      table.frequencies, table.rest, is_signed,
      [&](std::uint32_t symbol, unsigned before, unsigned width) {
        const int ones = ones_of_width(before, width);
        const int below = ones < most_width_ones ? 1 : table_width_bits;
        const int bits = mantissa_bits_of(width);
        const unsigned code = ((1U << ones) - 1) << below | (ones < most_width_ones ? 0 : width);
        const unsigned mantissa =
            bits == 0 ? 0 : table.frequencies[symbol] >> (static_cast<int>(width) - 1 - bits);
        out.put(code << bits | (mantissa & ((1U << bits) - 1)), ones + below + bits);
      });
}

SymbolTable read_table(BitReader& in, const SymbolTable& defaults, bool is_signed,
                       std::uint32_t symbols) {
  if (in.get(1) != 0) return defaults;
  SymbolTable table{};
  if (!is_signed) table.rest = static_cast<std::uint8_t>(in.get(table_symbol_bits));
  const auto last = static_cast<std::uint32_t>(in.get(table_symbol_bits));
  if (table.rest >= symbols || last >= symbols)
    throw ArchiveError("a symbol table has an unknown symbol");
  unsigned width = first_width;
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i <= last; ++i) {
    if (i == table.rest || (is_signed && is_mirrored(i))) continue;
    width = read_width(in, width);
    if (width == 0) continue;
    const int bits = mantissa_bits_of(width);
    const auto mantissa = static_cast<std::uint32_t>((1U << bits) | in.get(bits));
    const std::uint32_t frequency = mantissa << (static_cast<int>(width) - 1 - bits);
    const std::uint32_t alike = is_signed && is_mirrored(i + 1) ? 2 : 1;
    for (std::uint32_t k = 0; k < alike; ++k)
      table.frequencies[i + k] = static_cast<std::uint16_t>(frequency);
    sum += alike * frequency;
  }
  if (sum >= table_probability_one)
    throw ArchiveError("the frequencies of a symbol table are too large");
  table.frequencies[table.rest] = static_cast<std::uint16_t>(table_probability_one - sum);
  return table;
}

FallingCodes::FallingCodes(std::uint64_t codes, std::uint64_t sum)
    : ratio_((integer_root((codes * codes + sum * sum) << 32) - (codes << 16)) / sum) {}

std::uint64_t FallingCodes::share_of(std::uint32_t magnitude) const {
  return power_of_share(ratio_, magnitude);
}

}  // namespace cuszi

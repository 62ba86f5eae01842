#include <algorithm>
#include <array>
#include <bit>

#include "core/bits.hpp"
#include "tests/slow_decoder/slow_frame.hpp"

// docs/format.md, section 6, word for word: nothing of core/ans is used.

namespace cuszi::slow {

namespace {

constexpr std::uint32_t token_count = 39;
constexpr std::uint32_t outlier = 38;
constexpr std::uint64_t block = 64;

using Table = std::array<std::uint32_t, token_count>;  ///< frequencies

std::uint32_t get_unary(BitReader& bits) {
  std::uint32_t ones = 0;
  while (bits.get(1) == 1) ++ones;
  return ones;
}

Table read_table(BitReader& bits) {
  Table table{};
  const std::uint32_t commonest = get_unary(bits);
  const auto last = static_cast<std::uint32_t>(bits.get(6));
  constexpr std::array<int, 4> mantissas{0, 1, 2, 4};
  const int mantissa = last > 0 ? mantissas.at(bits.get(2)) : 0;
  int exponent = 12;
  std::uint32_t left = 4096;
  for (std::uint32_t token = 0; token <= last; ++token) {
    if (token == commonest) continue;
    const auto rank = static_cast<int>(get_unary(bits));
    exponent += rank % 2 == 0 ? rank / 2 : -(rank + 1) / 2;
    if (exponent == 0) continue;
    const int below = exponent - 1;
    const int stored = std::min(below, mantissa);
    std::uint32_t frequency = 1;
    frequency = frequency << stored | static_cast<std::uint32_t>(bits.get(stored));
    table.at(token) = frequency << (below - stored);
    left -= table.at(token);
  }
  table.at(commonest) = left;
  return table;
}

struct Head {
  std::uint64_t symbols = 0;
  std::uint32_t lanes = 1;
  std::uint64_t segment = 1;
  std::vector<Table> table_of_context;

  std::uint64_t segments() const { return ceil_div(symbols, segment); }
};

Head read_head(ByteReader& in, std::uint64_t symbols, std::size_t contexts) {
  Head head;
  head.symbols = symbols;
  head.lanes = 1U << in.get<std::uint8_t>();
  head.segment = std::uint64_t{1} << in.get<std::uint8_t>();
  BitReader bits(in.rest(), "the frequency tables");
  std::vector<std::size_t> number{0};
  for (std::size_t c = 1; c < contexts; ++c) number.push_back(number.back() + bits.get(1));
  std::vector<Table> tables;
  for (std::size_t i = 0; i <= number.back(); ++i) tables.push_back(read_table(bits));
  for (const std::size_t i : number) head.table_of_context.push_back(tables.at(i));
  in.take(bits.bytes_read());
  return head;
}

/// The lanes of a segment, which take turns.
class Lanes {
 public:
  Lanes(ByteReader& in, std::uint32_t count) : in_(in) {
    for (std::uint32_t lane = 0; lane < count; ++lane) states_.push_back(in.get<std::uint32_t>());
  }

  std::uint32_t token(std::uint32_t lane, const Table& table) {
    std::uint32_t& x = states_.at(lane);
    const std::uint32_t v = x % 4096;
    std::uint32_t token = 0;
    std::uint32_t before = 0;
    while (v >= before + table.at(token)) before += table.at(token++);
    x = table.at(token) * (x >> 12) + v - before;
    refill(x);
    return token;
  }

  std::uint32_t raw(std::uint32_t lane, std::uint32_t bits) {
    std::uint32_t& x = states_.at(lane);
    const std::uint32_t value = x & ((1U << bits) - 1);
    x >>= bits;
    refill(x);
    return value;
  }

  void expect_end() const {
    for (const std::uint32_t x : states_) {
      if (x != 1U << 16) throw ArchiveError("an ANS segment does not end as it should");
    }
  }

 private:
  void refill(std::uint32_t& x) {
    if (x < 1U << 16) x = x << 16 | in_.get<std::uint16_t>();
  }

  ByteReader& in_;
  std::vector<std::uint32_t> states_;
};

std::uint32_t raw_bits_of(std::uint32_t token) {
  if (token == 0 || token == outlier) return 0;
  return token < 16 ? 1 : (token - 16) / 2 + 4;
}

QuantCode code_of(std::uint32_t token, std::uint32_t raw, std::uint32_t centre) {
  if (token == outlier) return outlier_code;
  std::uint32_t magnitude = token;
  if (token >= 16) {
    const std::uint32_t e = 4 + (token - 16) / 2;
    magnitude = 1U << e | (token % 2) << (e - 1) | raw >> 1;
  }
  return static_cast<QuantCode>(raw % 2 == 1 ? centre - magnitude : centre + magnitude);
}

/// A stream's segments stand one behind the other, so that the index is not needed.
std::vector<QuantCode> read_segments(ByteReader& in, const Head& head, std::uint32_t centre,
                                     std::span<const std::uint8_t> contexts) {
  std::vector<QuantCode> symbols;
  for (std::uint64_t first = 0; first < head.symbols; first += head.segment) {
    const std::uint64_t end = std::min(first + head.segment, head.symbols);
    Lanes lanes(in, head.lanes);
    for (std::uint64_t step = first; step < end; step += head.lanes) {
      const auto active =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(head.lanes, end - step));
      std::vector<std::uint32_t> tokens;
      for (std::uint32_t lane = 0; lane < active; ++lane) {
        const std::size_t context = contexts.empty() ? 0 : contexts[step + lane];
        tokens.push_back(lanes.token(lane, head.table_of_context.at(context)));
      }
      for (std::uint32_t lane = 0; lane < active; ++lane) {
        const std::uint32_t token = tokens.at(lane);
        symbols.push_back(code_of(token, lanes.raw(lane, raw_bits_of(token)), centre));
      }
    }
    lanes.expect_end();
  }
  return symbols;
}

/// The context of each block's flag.
std::vector<std::uint8_t> contexts_of_flags(std::uint64_t count,
                                            std::span<const std::uint8_t> contexts) {
  std::vector<std::uint8_t> result;
  for (std::uint64_t first = 0; first < count; first += block) {
    std::uint32_t x = 0;
    for (std::uint64_t i = first; i < std::min(first + block, count) && !contexts.empty(); ++i) {
      const std::uint32_t bucket = contexts[i] % 16;
      if (bucket != 0) x += 1U << (bucket - 1);
    }
    const auto b = static_cast<std::uint32_t>(std::bit_width(x));
    result.push_back(static_cast<std::uint8_t>(x < 2 ? x : 2 * (b - 1) + ((x >> (b - 2)) & 1)));
  }
  return result;
}

std::vector<QuantCode> decode_with_flags(ByteReader& in, std::uint32_t centre, std::uint64_t count,
                                         std::span<const std::uint8_t> contexts,
                                         std::size_t context_count) {
  const std::uint64_t significant = in.varint();
  const Head flag_head = read_head(in, ceil_div(count, block), 48);
  const Head head = read_head(in, significant, context_count);
  if (flag_head.segments() == 1 && head.segments() == 1) in.varint();
  const std::vector<QuantCode> flags =
      read_segments(in, flag_head, 1, contexts_of_flags(count, contexts));
  std::vector<std::uint8_t> part_contexts;
  for (std::uint64_t i = 0; i < contexts.size(); ++i) {
    if (flags.at(i / block) == 2) part_contexts.push_back(contexts[i]);
  }
  const std::vector<QuantCode> part = read_segments(in, head, centre, part_contexts);
  std::vector<QuantCode> symbols;
  std::size_t next = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    symbols.push_back(flags.at(i / block) == 2 ? part.at(next++) : static_cast<QuantCode>(centre));
  }
  return symbols;
}

}  // namespace

std::vector<QuantCode> decode_ans(std::uint32_t centre, const Sections& sections,
                                  std::uint64_t count, std::span<const std::uint8_t> contexts,
                                  std::size_t context_count) {
  const Bytes codes = sections.find(SectionId::codes);
  if (codes.empty()) return std::vector<QuantCode>(count, static_cast<QuantCode>(centre));
  ByteReader in(codes, "the quant-codes");
  std::vector<QuantCode> symbols;
  if (in.get<std::uint8_t>() == 1) {
    symbols = decode_with_flags(in, centre, count, contexts, context_count);
  } else {
    const Head head = read_head(in, count, context_count);
    symbols = read_segments(in, head, centre, contexts);
  }
  in.expect_end();
  return symbols;
}

}  // namespace cuszi::slow

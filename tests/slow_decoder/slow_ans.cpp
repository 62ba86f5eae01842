#include <algorithm>
#include <array>

#include "core/base/bits.hpp"
#include "tests/slow_decoder/slow_frame.hpp"

// docs/reference/format.md, section 6, word for word: nothing of core/coders/ans is used.

namespace cuszi::slow {

namespace {

constexpr std::uint32_t outlier = 38;

using Table = std::array<std::uint64_t, 64>;  ///< frequencies

enum class Kind { code, gap, inner_gap, magnitude };

std::uint32_t unary(BitReader& bits) {
  std::uint32_t ones = 0;
  while (bits.get(1) == 1) ++ones;
  return ones;
}

std::uint32_t bits_of_number(std::uint64_t number) {
  std::uint32_t bits = 0;
  for (; number != 0; number /= 2) ++bits;
  return bits;
}

std::uint64_t get_count(BitReader& bits, std::uint64_t most) {
  return bits.get(static_cast<int>(bits_of_number(most)));
}

std::uint64_t least_number(std::uint32_t token) {
  if (token < 16) return token;
  return std::uint64_t{2 + token % 2} << ((token - 16) / 2 + 3);
}

Table read_model(BitReader& bits, std::uint32_t last) {
  const std::uint64_t s = bits.get(6);
  const std::uint64_t k = bits.get(2);
  const std::uint64_t h = (2 + s % 2) << (s / 2);
  const auto share = [&](std::uint32_t token) {
    if (token > last) return std::uint64_t{0};
    std::uint64_t value = 65536 * h / (h + 32 * least_number(token));
    for (std::uint64_t i = 0; i < k; ++i) value = value * value / 65536;
    return value;
  };
  Table table{};
  std::uint64_t left = 4096;
  for (std::uint32_t t = 0; t <= last; ++t) {
    table.at(t) = 1 + (share(t) - share(t + 1)) * 4032 / 65536;
    left -= table.at(t);
  }
  *std::max_element(table.begin(), table.end()) += left;
  return table;
}

Table read_table(BitReader& bits) {
  const bool has_model = bits.get(1) == 1;
  const auto last = static_cast<std::uint32_t>(bits.get(6));
  if (has_model) return read_model(bits, last);
  Table table{};
  const std::uint32_t below_leading = unary(bits);
  const auto commonest = static_cast<std::uint32_t>((1U << below_leading) +
                                                    bits.get(static_cast<int>(below_leading)) - 1);
  int exponent = 12;
  std::uint64_t left = 4096;
  for (std::uint32_t token = 0; token <= last; ++token) {
    if (token == commonest) continue;
    const auto rank = static_cast<int>(unary(bits));
    exponent += rank % 2 == 0 ? rank / 2 : -(rank + 1) / 2;
    if (exponent == 0) continue;
    const int below = exponent - 1;
    const int stored = std::min(below, 1);
    std::uint64_t frequency = 1;
    frequency = frequency << stored | bits.get(stored);
    table.at(token) = frequency << (below - stored);
    left -= table.at(token);
  }
  table.at(commonest) = left;
  return table;
}

struct List {
  Kind kind;
  std::uint64_t slots;
  Table table;
};

/// A table of a pass: which contexts have it, and its lists.
struct ContextTable {
  std::size_t pass;
  std::size_t first_context;
  bool by_gaps;
  std::vector<List> lists;
};

void read_pass(BitReader& bits, std::size_t pass, std::uint64_t points,
               std::vector<ContextTable>& tables) {
  std::uint64_t left = points;
  for (std::size_t context = 0; bits.get(1) == 1; ++context) {
    ContextTable table{pass, 0, false, {}};
    if (context != 0) context += unary(bits);
    table.first_context = context;
    table.by_gaps = bits.get(1) == 1;
    const std::uint64_t c = get_count(bits, left);
    const std::uint64_t m = table.by_gaps ? get_count(bits, c) : 0;
    const auto add = [&](Kind kind, std::uint64_t slots) {
      if (slots != 0) table.lists.push_back({kind, slots, read_table(bits)});
    };
    add(table.by_gaps ? Kind::gap : Kind::code, c);
    add(Kind::inner_gap, m);
    add(Kind::magnitude, m);
    left -= c;
    tables.push_back(std::move(table));
  }
}

/// How many raw bits stand behind a token.
std::uint32_t raw_bits_of(Kind kind, std::uint32_t token) {
  if (kind == Kind::magnitude) token += 2;
  const bool outlier_or_zero = token == outlier || token == 0;
  if (outlier_or_zero && (kind == Kind::code || kind == Kind::magnitude)) return 0;
  const std::uint32_t of_number = token < 16 ? 0 : (token - 16) / 2 + 3;
  return of_number + (kind == Kind::code || kind == Kind::gap ? 1 : 0);
}

struct Slot {
  const List* list;
  std::uint32_t token;
  std::uint64_t raw = 0;
};

class Segment {
 public:
  Segment(ByteReader& in, std::span<Slot> slots) : in_(in), slots_(slots) {}

  void decode() {
    const std::uint64_t lanes = ceil_div(slots_.size(), 1024);
    std::vector<std::uint32_t> states;
    for (std::uint64_t lane = 0; lane < lanes; ++lane) states.push_back(in_.get<std::uint32_t>());
    for (std::uint64_t i = 0; i < slots_.size(); ++i) take_token(states[i % lanes], slots_[i]);
    take_raw_bits(states);
  }

 private:
  void take_token(std::uint32_t& x, Slot& slot) {
    const std::uint32_t v = x % 4096;
    std::uint64_t before = 0;
    slot.token = 0;
    const Table& table = slot.list->table;
    while (v >= before + table.at(slot.token)) before += table.at(slot.token++);
    x = static_cast<std::uint32_t>(table.at(slot.token) * (x >> 12) + v - before);
    if (x < 1U << 16) x = x << 16 | in_.get<std::uint16_t>();
  }

  void take_raw_bits(const std::vector<std::uint32_t>& states) {
    std::uint64_t all = 0;
    for (const Slot& slot : slots_) all += raw_bits_of(slot.list->kind, slot.token);
    const std::uint64_t carrying = std::min<std::uint64_t>(states.size(), all / 16);
    std::vector<bool> string;
    const auto append = [&](std::uint32_t word) {
      for (int bit = 0; bit < 16; ++bit) string.push_back(((word >> bit) & 1U) != 0);
    };
    for (std::size_t lane = 0; lane < states.size(); ++lane) {
      const std::uint32_t above = states[lane] - 65536;
      if (above >= (lane < carrying ? 65536U : 1U)) {
        throw ArchiveError("an ANS segment does not end as it should");
      }
      if (lane < carrying) append(above);
    }
    while (string.size() < all) append(in_.get<std::uint16_t>());
    std::size_t at = 0;
    for (Slot& slot : slots_) {
      const std::uint32_t bits = raw_bits_of(slot.list->kind, slot.token);
      for (std::uint32_t i = 0; i < bits; ++i) {
        slot.raw |= std::uint64_t{string[at++] ? 1U : 0U} << i;
      }
    }
    for (; at < string.size(); ++at) {
      if (string[at]) throw ArchiveError("an ANS segment is not filled up with zeros");
    }
  }

  ByteReader& in_;
  std::span<Slot> slots_;
};

std::uint64_t number_of(std::uint32_t token, std::uint64_t raw) {
  return least_number(token) | raw;
}

QuantCode code_at(std::uint64_t magnitude, bool below, std::uint32_t centre) {
  return static_cast<QuantCode>(below ? centre - magnitude : centre + magnitude);
}

QuantCode code_of(const Slot& slot, std::uint32_t centre) {
  if (slot.token == outlier) return outlier_code;
  return code_at(number_of(slot.token, slot.raw / 2), slot.raw % 2 == 1, centre);
}

/// Puts the codes that are told by gaps in their places.
std::vector<QuantCode> codes_by_gaps(std::span<const Slot> gaps, std::span<const Slot> inner,
                                     std::span<const Slot> magnitudes, std::uint32_t centre) {
  std::vector<std::uint64_t> magnitude_of(gaps.size(), 1);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < inner.size(); ++i, ++at) {
    at += number_of(inner[i].token, inner[i].raw);
    const std::uint32_t token = magnitudes[i].token + 2;
    magnitude_of.at(at) = token == outlier ? 0 : number_of(token, magnitudes[i].raw);
  }
  std::vector<QuantCode> codes;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    codes.insert(codes.end(), number_of(gaps[i].token, gaps[i].raw / 2),
                 static_cast<QuantCode>(centre));
    codes.push_back(magnitude_of[i] == 0 ? outlier_code
                                         : code_at(magnitude_of[i], gaps[i].raw % 2 == 1, centre));
  }
  return codes;
}

}  // namespace

std::vector<PassCodes> decode_chain(std::uint32_t centre, Bytes codes,
                                    std::span<const PassShape> shapes) {
  std::vector<PassCodes> passes(shapes.size());
  if (codes.empty()) return passes;
  BitReader head(codes, "the head of a chain");
  std::vector<ContextTable> tables;
  for (std::size_t i = 0; i < shapes.size(); ++i) read_pass(head, i, shapes[i].points, tables);
  std::vector<Slot> slots;
  for (const ContextTable& table : tables) {
    for (const List& list : table.lists) slots.insert(slots.end(), list.slots, Slot{&list, 0});
  }
  ByteReader in(codes.subspan(head.bytes_read()), "the quant-codes");
  for (std::size_t first = 0; first < slots.size(); first += 32768) {
    const std::size_t count = std::min<std::size_t>(32768, slots.size() - first);
    Segment(in, std::span(slots).subspan(first, count)).decode();
  }
  in.expect_end();
  std::span<const Slot> rest = slots;
  const auto take = [&](std::uint64_t count) {
    const auto part = rest.first(count);
    rest = rest.subspan(count);
    return part;
  };
  for (const ContextTable& table : tables) {
    TableCodes& result = passes[table.pass].emplace_back();
    result.first_context = table.first_context;
    result.by_gaps = table.by_gaps;
    std::vector<std::span<const Slot>> lists(3);
    for (std::size_t i = 0; i < table.lists.size(); ++i) lists[i] = take(table.lists[i].slots);
    if (table.by_gaps) {
      result.codes = codes_by_gaps(lists[0], lists[1], lists[2], centre);
    } else {
      for (const Slot& slot : lists[0]) result.codes.push_back(code_of(slot, centre));
    }
  }
  return passes;
}

std::vector<QuantCode> place_codes(const PassCodes& tables, std::uint32_t centre,
                                   std::uint64_t count, std::span<const std::uint8_t> contexts) {
  std::vector<QuantCode> result(count, static_cast<QuantCode>(centre));
  if (tables.empty()) return result;
  std::vector<std::size_t> next(tables.size(), 0);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::size_t t = tables.size() - 1;
    while (tables[t].first_context > (contexts.empty() ? 0U : contexts[i])) --t;
    if (next[t] < tables[t].codes.size()) result[i] = tables[t].codes[next[t]];
    ++next[t];
  }
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const std::size_t told = tables[t].codes.size();
    if (tables[t].by_gaps ? told > next[t] : told != next[t]) {
      throw ArchiveError("the contexts of a pass do not match the number of its codes");
    }
  }
  return result;
}

}  // namespace cuszi::slow

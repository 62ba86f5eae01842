#include <algorithm>
#include <array>
#include <cstring>

#include "cpu_ref/coders/ans.hpp"
#include "cpu_ref/coders/table_order.hpp"

namespace cuszi::cpu {

namespace {

using DecoderTable = std::vector<std::uint32_t>;

DecoderTable decoder_table(const FrequencyTable& table) {
  DecoderTable entries;
  entries.reserve(probability_one);
  for (std::uint32_t token = 0; token <= table.last; ++token) {
    const std::uint32_t frequency = table.frequencies[token];
    for (std::uint32_t i = 0; i < frequency; ++i) {
      entries.push_back(decoder_entry(token, frequency, i));
    }
  }
  return entries;
}

class WordReader {
 public:
  explicit WordReader(Bytes bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size() / 2 * 2) {}

  std::size_t left() const { return static_cast<std::size_t>(end_ - next_) / 2; }
  const std::byte* next() const { return next_; }

  /// Takes `count` (0 or 1) words; left() must be at least 1.
  std::uint16_t peek_and_take(std::uint32_t count) {
    std::uint16_t word;
    std::memcpy(&word, next_, sizeof word);
    next_ += count * sizeof word;
    return word;
  }
  /// Throws ArchiveError at the end.
  std::uint16_t take() {
    if (next_ == end_) throw ArchiveError("an ANS segment is truncated");
    return peek_and_take(1);
  }

 private:
  const std::byte* next_;
  const std::byte* end_;
};

/// 16-bit words, lowest bit first.
class RawReader {
 public:
  /// Four words behind the last must be readable.
  explicit RawReader(const std::uint16_t* words) : words_(words) {}

  std::uint32_t get(std::uint32_t count) {
    std::uint64_t bits;
    std::memcpy(&bits, words_ + at_ / 16, sizeof bits);
    bits >>= at_ % 16;
    at_ += count;
    return static_cast<std::uint32_t>(bits & ((std::uint64_t{1} << count) - 1));
  }

 private:
  const std::uint16_t* words_;
  std::uint64_t at_ = 0;
};

constexpr auto raw_bit_counts = [] {
  std::array<std::array<std::uint8_t, token_count>, 4> counts{};
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    for (unsigned t = 0; t < tokens_of(static_cast<SlotKind>(kind)); ++t) {
      counts[kind][t] = static_cast<std::uint8_t>(raw_bits_of(static_cast<SlotKind>(kind), t));
    }
  }
  return counts;
}();

struct SlotValues {
  std::span<QuantCode> codes;
  std::span<std::uint32_t> numbers;
};

class SegmentDecoder {
 public:
  SegmentDecoder(const ChainPlan& plan, std::span<const DecoderTable> tables, std::uint32_t centre,
                 const SlotValues& values)
      : plan_(plan), tables_(tables), centre_(centre), values_(values) {}

  /// Returns the segment's bytes; it is at the front of `bytes`.
  ByteCount decode(const ChainSegment& segment, Bytes bytes) const {
    const std::uint32_t lanes = segment.lanes();
    if (bytes.size() < lanes * sizeof(std::uint32_t)) {
      throw ArchiveError("an ANS segment is truncated");
    }
    std::array<std::uint32_t, most_lanes> states;
    std::memcpy(states.data(), bytes.data(), lanes * sizeof(std::uint32_t));
    WordReader words(bytes.subspan(lanes * sizeof(std::uint32_t)));
    const std::vector<SlotRun> runs = runs_of(plan_, segment);
    std::vector<std::uint8_t> tokens(segment.slots);
    for (const SlotRun& run : runs) take_tokens(run, lanes, states, words, tokens.data());
    const std::vector<std::uint16_t> raw =
        raw_words(raw_bits(runs, tokens), std::span(states).first(lanes), words);
    RawReader reader(raw.data());
    for (const SlotRun& run : runs) put_values(run, tokens.data() + run.begin, reader);
    return static_cast<ByteCount>(words.next() - bytes.data());
  }

 private:
  void take_tokens(const SlotRun& run, std::uint32_t lanes, std::span<std::uint32_t> states,
                   WordReader& words, std::uint8_t* tokens) const {
    const std::uint32_t* const entries = tables_[run.list].data();
    std::uint32_t slot = run.begin;
    std::uint32_t lane = slot % lanes;
    const auto take = [&](auto refill) {
      std::uint32_t& state = states[lane];
      const std::uint32_t entry = entries[decoder_slot(state)];
      tokens[slot] = static_cast<std::uint8_t>(token_of_entry(entry));
      state = refill(take_token(state, entry));
      if (++lane == lanes) lane = 0;
    };
    while (slot < run.end) {
      const auto most =
          static_cast<std::uint32_t>(std::min<std::size_t>(run.end - slot, words.left()));
      for (const std::uint32_t end = slot + most; slot < end; ++slot) {
        take([&](std::uint32_t state) {  // branchless: refills are unpredictable
          const std::uint32_t needed = needs_refill(state) ? 1 : 0;
          const std::uint32_t word = words.peek_and_take(needed);
          return state << 16 * needed | (word & (0U - needed));
        });
      }
      if (most != 0) continue;
      for (; slot < run.end; ++slot) {
        take([&](std::uint32_t state) {
          return needs_refill(state) ? refilled(state, words.take()) : state;
        });
      }
    }
  }

  std::uint64_t raw_bits(std::span<const SlotRun> runs,
                         std::span<const std::uint8_t> tokens) const {
    std::uint64_t bits = 0;
    for (const SlotRun& run : runs) {
      const auto& counts = raw_bit_counts[static_cast<std::size_t>(plan_.lists[run.list].kind)];
      for (std::uint32_t slot = run.begin; slot < run.end; ++slot) bits += counts[tokens[slot]];
    }
    return bits;
  }

  /// Collects raw bits from final states and remaining words, and verifies both.
  static std::vector<std::uint16_t> raw_words(std::uint64_t bits,
                                              std::span<const std::uint32_t> states,
                                              WordReader& words) {
    const std::uint32_t carrying = carrying_lanes(static_cast<std::uint32_t>(states.size()), bits);
    std::vector<std::uint16_t> raw;
    const std::uint64_t count = ceil_div(bits, carried_bits);
    if (count - carrying > words.left()) throw ArchiveError("an ANS segment is truncated");
    constexpr std::size_t room = 4;
    raw.reserve(count + room);
    for (std::size_t lane = 0; lane < states.size(); ++lane) {
      const bool ends =
          lane < carrying ? states[lane] >> carried_bits == 1 : states[lane] == lane_start;
      if (!ends) throw ArchiveError("an ANS segment does not end as it should");
      if (lane < carrying) raw.push_back(static_cast<std::uint16_t>(states[lane]));
    }
    while (raw.size() < count) raw.push_back(words.take());
    if (bits % carried_bits != 0 && raw.back() >> bits % carried_bits != 0) {
      throw ArchiveError("an ANS segment does not end as it should");
    }
    raw.resize(count + room, 0);
    return raw;
  }

  void put_values(const SlotRun& run, const std::uint8_t* tokens, RawReader& raw) const {
    const SlotList& list = plan_.lists[run.list];
    const auto put_all = [&](auto* values, SlotKind kind) {
      const auto& counts = raw_bit_counts[static_cast<std::size_t>(kind)];
      values += list.first_value + run.skipped;
      for (std::size_t i = 0; i < run.size(); ++i) {
        values[i] = static_cast<std::remove_reference_t<decltype(*values)>>(
            value_of_slot(kind, tokens[i], raw.get(counts[tokens[i]]), centre_));
      }
    };
    switch (list.kind) {
      case SlotKind::code: put_all(values_.codes.data(), SlotKind::code); break;
      case SlotKind::gap: put_all(values_.numbers.data(), SlotKind::gap); break;
      case SlotKind::inner_gap: put_all(values_.numbers.data(), SlotKind::inner_gap); break;
      case SlotKind::magnitude: put_all(values_.numbers.data(), SlotKind::magnitude);
    }
  }

  const ChainPlan& plan_;
  std::span<const DecoderTable> tables_;
  std::uint32_t centre_;
  SlotValues values_;
};

void decode_chain(const CodedChain& chain, std::uint32_t centre, const SlotValues& values) {
  std::vector<DecoderTable> tables;
  for (const FrequencyTable& table : chain.plan.tables) tables.push_back(decoder_table(table));
  const SegmentDecoder decoder(chain.plan, tables, centre, values);
  const std::uint64_t segments = chain.plan.segments();
  const auto expect_end = [](bool ends) {
    if (!ends) throw ArchiveError("an ANS segment does not end where it should");
  };
  if (chain.starts.size() < segments) {
    Bytes rest = chain.segments;
    for (std::uint64_t i = 0; i < segments; ++i) {
      rest = rest.subspan(decoder.decode(segment_of(chain.plan, i), rest));
    }
    expect_end(rest.empty());
    return;
  }
  parallel_for(segments, [&](std::uint64_t i) {
    const ByteCount begin = chain.starts[i];
    const ByteCount end = i + 1 < segments ? chain.starts[i + 1] : chain.segments.size();
    expect_end(begin <= end);
    const Bytes bytes = chain.segments.subspan(begin, end - begin);
    expect_end(decoder.decode(segment_of(chain.plan, i), bytes) == bytes.size());
  });
}

[[noreturn]] void refuse_counts() {
  throw ArchiveError("the contexts of a pass do not match the number of its codes");
}

TableOf table_of_contexts(const PassTables& tables) {
  TableOf table_of{};
  for (std::size_t t = 1; t < tables.size(); ++t) {
    std::fill(table_of.begin() + tables[t].first_context, table_of.end(),
              static_cast<std::uint8_t>(t));
  }
  return table_of;
}

}  // namespace

AnsLevel::AnsLevel(const AnsParams& params, Bytes index, Bytes codes,
                   std::span<const PassShape> shapes)
    : centre_(static_cast<QuantCode>(params.centre)) {
  if (codes.empty()) {
    passes_.resize(shapes.size());
    return;
  }
  CodedChain chain = CodedChain::read(params, index, codes, shapes);
  codes_.resize(chain.plan.codes);
  numbers_.resize(chain.plan.numbers);
  decode_chain(chain, params.centre, {codes_, numbers_});
  passes_ = std::move(chain.plan.passes);
  lists_ = std::move(chain.plan.lists);
}

void AnsLevel::restore_table(const TableLists& table, std::span<QuantCode> codes) const {
  const auto numbers = [&](std::uint32_t list) {
    const SlotList& slots = lists_[table.first_list + list];
    return std::span(numbers_).subspan(slots.first_value, slots.count);
  };
  if (!table.by_gaps) {
    if (table.codes != codes.size()) refuse_counts();
    if (table.codes == 0) return;
    std::copy_n(codes_.begin() + static_cast<std::ptrdiff_t>(lists_[table.first_list].first_value),
                table.codes, codes.begin());
    return;
  }
  std::fill(codes.begin(), codes.end(), centre_);
  if (table.codes == 0) return;
  const auto gaps = numbers(0);
  const auto inner = table.larger != 0 ? numbers(1) : std::span<const std::uint32_t>{};
  const auto magnitudes = table.larger != 0 ? numbers(2) : inner;
  std::size_t next = 0;  // next inner gap
  std::uint64_t ones = inner.empty() ? 0 : inner[0];
  std::uint64_t at = 0;
  for (const std::uint32_t gap : gaps) {
    at += gap >> 1;
    if (at >= codes.size()) refuse_counts();
    std::uint32_t magnitude = 1;
    if (next < inner.size() && ones-- == 0) {
      magnitude = magnitudes[next++];
      if (next < inner.size()) ones = inner[next];
    }
    codes[at++] = magnitude == 0 ? outlier_code : code_of(magnitude, (gap & 1) != 0, centre_);
  }
  if (next != inner.size()) refuse_counts();
}

void AnsLevel::place(std::size_t pass, std::span<const std::uint8_t> contexts,
                     std::span<QuantCode> codes) const {
  const PassTables& tables = passes_[pass];
  if (tables.empty()) {
    std::fill(codes.begin(), codes.end(), centre_);
    return;
  }
  const TableOf table_of = table_of_contexts(tables);
  const TableOrder order(contexts, table_of, codes.size(), tables.size());
  std::vector<QuantCode> sorted(order.is_given() ? 0 : codes.size());
  std::size_t first = 0;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const std::uint64_t count = order.counts()[t];
    restore_table(tables[t], (order.is_given() ? codes : std::span(sorted)).subspan(first, count));
    first += count;
  }
  if (order.is_given()) return;
  order.for_each([&](std::uint64_t i, std::uint64_t position) { codes[i] = sorted[position]; });
}

}  // namespace cuszi::cpu

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "cpu_ref/coders/ans.hpp"
#include "cpu_ref/coders/table_order.hpp"

namespace cuszi::cpu {

namespace {

/// [context]
std::vector<Counts> count_tokens(const PassCodes& pass, std::uint32_t centre) {
  std::vector<Counts> total(pass.shape.contexts, Counts{});
  const std::uint64_t size = pass.codes.size();
  parallel_for(
      ceil_div(size, ans_symbols_per_task),
      [&] { return std::vector<Counts>(2 * total.size(), Counts{}); },
      [&](std::vector<Counts>& counts, std::uint64_t task) {
        // Two sets of counters: equal consecutive codes would stall on one.
        const auto count = [&](std::uint64_t i, std::size_t turn) {
          const std::size_t context = pass.contexts.empty() ? 0 : pass.contexts[i];
          ++counts[2 * context + turn][token_of(SlotKind::code, pass.codes[i], centre).token];
        };
        const std::uint64_t end = std::min(size, (task + 1) * ans_symbols_per_task);
        std::uint64_t i = task * ans_symbols_per_task;
        for (; i + 1 < end; i += 2) {
          count(i, 0);
          count(i + 1, 1);
        }
        if (i < end) count(i, 0);
      },
      [&](const std::vector<Counts>& counts) {
        for (std::size_t c = 0; c < counts.size(); ++c) {
          for (unsigned t = 0; t < token_count; ++t) total[c / 2][t] += counts[c][t];
        }
      });
  return total;
}

struct GapLists {
  std::vector<std::uint32_t> gaps;
  std::vector<std::uint32_t> inner_gaps;
  std::vector<std::uint32_t> magnitudes;
};

struct TableCodes {
  std::span<const QuantCode> codes;
  GapLists lists;  ///< if gaps are priced
};

/// Returns false if a gap is too long.
bool find_gaps(std::span<const QuantCode> codes, std::uint32_t centre, GapLists& lists) {
  std::uint64_t zeros = 0;
  std::uint32_t ones = 0;
  for (const QuantCode code : codes) {
    if (code == centre) {
      ++zeros;
      continue;
    }
    if (zeros > most_gap) return false;
    lists.gaps.push_back(gap_before(code, static_cast<std::uint32_t>(zeros), centre));
    zeros = 0;
    const std::uint32_t magnitude = magnitude_of(code, centre);
    if (magnitude == 1) {
      ++ones;
      continue;
    }
    if (ones > most_gap) return false;
    lists.inner_gaps.push_back(std::exchange(ones, 0));
    lists.magnitudes.push_back(magnitude);
  }
  return true;
}

Counts count_numbers(SlotKind kind, std::span<const std::uint32_t> numbers) {
  Counts counts{};
  for (const std::uint32_t number : numbers) ++counts[token_of(kind, number, 0).token];
  return counts;
}

struct LevelLists {
  std::vector<std::vector<TableCounts>> counts;  ///< [pass][table]
  std::vector<std::vector<TableCodes>> tables;   ///< [pass][table]
  ChainPlan plan;
};

void order_codes(const PassCodes& pass, const ContextTables& contexts,
                 std::vector<TableCodes>& tables) {
  TableOf table_of{};
  std::copy(contexts.table_of.begin(), contexts.table_of.end(), table_of.begin());
  const TableOrder order(pass.contexts, table_of, pass.codes.size(), contexts.tables.size());
  if (!order.is_given()) {
    std::vector<QuantCode> sorted(pass.codes.size());
    order.for_each(
        [&](std::uint64_t i, std::uint64_t position) { sorted[position] = pass.codes[i]; });
    std::copy(sorted.begin(), sorted.end(), pass.codes.begin());
  }
  std::size_t first = 0;
  for (const std::uint64_t count : order.counts()) {
    tables.push_back({pass.codes.subspan(first, count), {}});
    first += count;
  }
}

void count_gaps(std::uint32_t centre, TableCodes& table, TableCounts& counts) {
  if (!counts.may_pay_by_gaps()) return;
  counts.fits_gaps = find_gaps(table.codes, centre, table.lists);
  counts.gaps = count_numbers(SlotKind::gap, table.lists.gaps);
  counts.inner_gaps = count_numbers(SlotKind::inner_gap, table.lists.inner_gaps);
}

LevelLists make_lists(const AnsParams& params, std::span<const PassCodes> passes) {
  LevelLists level;
  std::vector<std::pair<TableCodes*, TableCounts*>> all;
  level.tables.resize(passes.size());
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const std::vector<Counts> of_context = count_tokens(passes[i], params.centre);
    const ContextTables contexts = ContextTables::fit(of_context);
    order_codes(passes[i], contexts, level.tables[i]);
    level.counts.push_back(table_counts(of_context, contexts));
  }
  for (std::size_t i = 0; i < passes.size(); ++i) {
    for (std::size_t t = 0; t < level.tables[i].size(); ++t) {
      all.emplace_back(&level.tables[i][t], &level.counts[i][t]);
    }
  }
  parallel_for(all.size(),
               [&](std::uint64_t i) { count_gaps(params.centre, *all[i].first, *all[i].second); });
  level.plan = ChainPlan::choose(level.counts);
  return level;
}

struct ListValues {
  std::span<const QuantCode> codes;
  std::span<const std::uint32_t> numbers;
};

std::vector<ListValues> values_of(const LevelLists& level) {
  std::vector<ListValues> values;
  for (std::size_t i = 0; i < level.plan.passes.size(); ++i) {
    const PassTables& pass = level.plan.passes[i];
    for (std::size_t t = 0; t < pass.size(); ++t) {
      const TableCodes& table = level.tables[i][t];
      if (!pass[t].by_gaps) values.push_back({table.codes, {}});
      if (pass[t].by_gaps && pass[t].codes != 0) values.push_back({{}, table.lists.gaps});
      if (pass[t].larger == 0) continue;
      values.push_back({{}, table.lists.inner_gaps});
      values.push_back({{}, table.lists.magnitudes});
    }
  }
  return values;
}

/// Divides by the frequency with a multiplication.
class EncoderEntry {
 public:
  EncoderEntry() = default;
  explicit EncoderEntry(const TokenShare& share)
      : share_(share),
        inverse_(share.frequency != 0 ? (std::uint64_t{1} << inverse_bits) / share.frequency + 1
                                      : 0) {}

  bool spills(std::uint32_t state) const { return spills_for_token(state, share_.frequency); }

  /// `state` must not spill: below 2^20 x frequency <= 2^32, products fit 64 bits and the quotient
  /// is exact.
  std::uint32_t put(std::uint32_t state) const {
    const auto quotient = static_cast<std::uint32_t>(state * inverse_ >> inverse_bits);
    return state + quotient * (probability_one - share_.frequency) + share_.first;
  }

 private:
  static constexpr int inverse_bits = 44;
  static_assert(probability_bits == 12);

  TokenShare share_{};
  std::uint64_t inverse_ = 0;
};

using EncoderTable = std::array<EncoderEntry, token_count>;

EncoderTable encoder_table(const FrequencyTable& table) {
  EncoderTable entries{};
  std::uint32_t sum = 0;
  for (unsigned t = 0; t < token_count; ++t) {
    entries[t] = EncoderEntry({table.frequencies[t], sum});
    sum += table.frequencies[t];
  }
  return entries;
}

/// 16-bit words, lowest bit first.
class RawWriter {
 public:
  explicit RawWriter(std::uint64_t slots) : words_(most_words_of_slot * slots + room) {}

  void put(std::uint32_t bits, std::uint32_t count) {  // branchless: counts are random
    held_ |= std::uint64_t{bits} << held_bits_;
    held_bits_ += count;
    total_ += count;
    std::memcpy(words_.data() + size_, &held_, sizeof held_);
    const std::uint32_t full = held_bits_ / 16;
    size_ += full;
    held_ >>= 16 * full;
    held_bits_ %= 16;
  }

  std::uint64_t total() const { return total_; }

  std::span<const std::uint16_t> finish() const {
    return std::span(words_).first(size_ + (held_bits_ != 0 ? 1 : 0));
  }

 private:
  static constexpr std::size_t most_words_of_slot = 2;
  static constexpr std::size_t room = 4;  ///< words written at once

  std::uint64_t held_ = 0;
  std::uint32_t held_bits_ = 0;
  std::uint64_t total_ = 0;
  std::size_t size_ = 0;  ///< full words
  std::vector<std::uint16_t> words_;
};

/// token_of() with a lookup table near the centre.
class CodeTokens {
 public:
  explicit CodeTokens(std::uint32_t centre) : centre_(centre), first_(centre - looked_up / 2) {
    for (std::uint32_t i = 0; i < looked_up; ++i) {
      if (first_ + i <= 0xFFFF) near_[i] = token_of(SlotKind::code, first_ + i, centre);
    }
  }

  Token operator()(std::uint32_t code) const {
    const std::uint32_t distance = code - first_;
    return distance < looked_up ? near_[distance] : token_of(SlotKind::code, code, centre_);
  }

 private:
  static constexpr std::uint32_t looked_up = 128;

  std::array<Token, looked_up> near_{};
  std::uint32_t centre_;
  std::uint32_t first_;  ///< of the table, modulo 2^32
};

/// Encodes segments backwards; words end up in decoding order.
class SegmentEncoder {
 public:
  SegmentEncoder(const ChainPlan& plan, std::span<const ListValues> values,
                 std::span<const EncoderTable> tables, std::uint32_t centre)
      : plan_(plan), values_(values), tables_(tables), centre_(centre), code_tokens_(centre) {}

  std::vector<std::byte> encode(const ChainSegment& segment) const {
    const std::vector<SlotRun> runs = runs_of(plan_, segment);
    std::vector<std::uint8_t> tokens(segment.slots);
    RawWriter raw(segment.slots);
    for (const SlotRun& run : runs) find_tokens(run, tokens.data() + run.begin, raw);
    const std::uint64_t raw_bits = raw.total();
    const auto raw_words = raw.finish();

    const std::uint32_t lanes = segment.lanes();
    const std::uint32_t carrying = carrying_lanes(lanes, raw_bits);
    std::array<std::uint32_t, most_lanes> states;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      states[lane] = lane_start + (lane < carrying ? raw_words[lane] : 0);
    }
    std::vector<std::uint16_t> words(segment.slots);
    std::uint16_t* first_word = words.data() + words.size();
    std::for_each(runs.rbegin(), runs.rend(), [&](const SlotRun& run) {
      put_tokens(run, tokens.data(), lanes, states, first_word);
    });
    ByteWriter out;
    out.append(std::as_bytes(std::span(states).first(lanes)));
    out.append(std::as_bytes(std::span(first_word, words.data() + words.size())));
    out.append(std::as_bytes(raw_words.subspan(carrying)));
    return out.take();
  }

 private:
  void find_tokens(const SlotRun& run, std::uint8_t* tokens, RawWriter& raw) const {
    const auto put_all = [&](auto values, SlotKind kind) {
      for (std::size_t i = 0; i < run.size(); ++i) {
        const std::uint32_t value = values[run.skipped + i];
        const Token token =
            kind == SlotKind::code ? code_tokens_(value) : token_of(kind, value, centre_);
        tokens[i] = token.token;
        raw.put(token.raw, token.raw_bits);
      }
    };
    const ListValues& values = values_[run.list];
    switch (plan_.lists[run.list].kind) {
      case SlotKind::code: put_all(values.codes, SlotKind::code); break;
      case SlotKind::gap: put_all(values.numbers, SlotKind::gap); break;
      case SlotKind::inner_gap: put_all(values.numbers, SlotKind::inner_gap); break;
      case SlotKind::magnitude: put_all(values.numbers, SlotKind::magnitude);
    }
  }

  void put_tokens(const SlotRun& run, const std::uint8_t* tokens, std::uint32_t lanes,
                  std::span<std::uint32_t> states, std::uint16_t*& first_word) const {
    const EncoderTable& table = tables_[run.list];
    std::uint32_t lane = run.end % lanes;
    for (std::uint32_t slot = run.end; slot-- > run.begin;) {
      if (lane == 0) lane = lanes;
      std::uint32_t& state = states[--lane];
      const EncoderEntry& entry = table[tokens[slot]];
      const std::uint32_t spills = entry.spills(state) ? 1 : 0;  // branchless: spills are
                                                                 // unpredictable
      first_word[-1] = static_cast<std::uint16_t>(state);
      first_word -= spills;
      state = entry.put(state >> 16 * spills);
    }
  }

  const ChainPlan& plan_;
  std::span<const ListValues> values_;
  std::span<const EncoderTable> tables_;
  std::uint32_t centre_;
  CodeTokens code_tokens_;
};

std::vector<std::vector<std::byte>> encode_segments(const LevelLists& level, std::uint32_t centre) {
  std::vector<EncoderTable> tables;
  for (const FrequencyTable& table : level.plan.tables) tables.push_back(encoder_table(table));
  const std::vector<ListValues> values = values_of(level);
  const SegmentEncoder encoder(level.plan, values, tables, centre);
  std::vector<std::vector<std::byte>> segments(level.plan.segments());
  parallel_for(segments.size(),
               [&](std::uint64_t i) { segments[i] = encoder.encode(segment_of(level.plan, i)); });
  return segments;
}

std::vector<PassShape> shapes_of(std::span<const PassCodes> passes) {
  std::vector<PassShape> shapes;
  for (const PassCodes& pass : passes) shapes.push_back(pass.shape);
  return shapes;
}

}  // namespace

std::uint64_t ans_bytes(const AnsParams& params, std::span<const PassCodes> passes) {
  return ceil_div(make_lists(params, passes).plan.cost >> cost_bits, 8);
}

AnsStream ans_encode(const AnsParams& params, std::span<const PassCodes> passes) {
  const LevelLists level = make_lists(params, passes);
  if (level.plan.slots() == 0) return {};
  const std::vector<std::vector<std::byte>> segments = encode_segments(level, params.centre);
  std::vector<std::uint32_t> sizes;
  sizes.reserve(segments.size());
  for (const auto& segment : segments) sizes.push_back(static_cast<std::uint32_t>(segment.size()));
  AnsStream stream{chain_index(params, sizes), chain_head(level.plan, shapes_of(passes))};
  stream.codes.reserve(std::accumulate(sizes.begin(), sizes.end(), stream.codes.size()));
  for (const auto& segment : segments) {
    stream.codes.insert(stream.codes.end(), segment.begin(), segment.end());
  }
  return stream;
}

}  // namespace cuszi::cpu

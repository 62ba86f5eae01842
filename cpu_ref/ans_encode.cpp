#include <algorithm>
#include <array>
#include <numeric>

#include "cpu_ref/ans.hpp"
#include "cpu_ref/slot_runs.hpp"
#include "cpu_ref/table_order.hpp"

namespace cuszi::cpu {

namespace {

/// How often each token occurs in each context.
std::vector<Counts> count_tokens(const PassCodes& pass, std::uint32_t centre) {
  std::vector<Counts> total(pass.shape.contexts, Counts{});
  const std::uint64_t size = pass.codes.size();
  parallel_for(
      ceil_div(size, ans_symbols_per_task),
      [&] { return std::vector<Counts>(pass.shape.contexts, Counts{}); },
      [&](std::vector<Counts>& counts, std::uint64_t task) {
        const std::uint64_t end = std::min(size, (task + 1) * ans_symbols_per_task);
        for (std::uint64_t i = task * ans_symbols_per_task; i < end; ++i) {
          const std::uint8_t context = pass.contexts.empty() ? 0 : pass.contexts[i];
          ++counts[context][token_of(SlotKind::code, pass.codes[i], centre).token];
        }
      },
      [&](const std::vector<Counts>& counts) {
        for (std::size_t c = 0; c < counts.size(); ++c) {
          for (unsigned t = 0; t < token_count; ++t) total[c][t] += counts[c][t];
        }
      });
  return total;
}

/// The values of the lists by which codes can be told by gaps.
struct GapLists {
  std::vector<std::uint32_t> gaps;
  std::vector<std::uint32_t> inner_gaps;
  std::vector<std::uint32_t> magnitudes;
};

/// The codes that share a table.
struct TableCodes {
  std::span<const QuantCode> codes;
  GapLists lists;  ///< if they may pay
};

/// Sorts out the codes that are not the centre. False if a gap is too long.
bool find_gaps(std::span<const QuantCode> codes, std::uint32_t centre, GapLists& lists) {
  std::uint64_t zeros = 0;
  std::uint32_t ones = 0;
  for (const QuantCode code : codes) {
    if (code == centre) {
      ++zeros;
      continue;
    }
    if (zeros > most_gap) return false;
    const std::uint32_t sign = code != outlier_code && code < centre ? 1 : 0;
    lists.gaps.push_back(static_cast<std::uint32_t>(zeros << 1 | sign));
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

/// A level's codes table by table, and how they are to be written.
struct LevelLists {
  std::vector<std::vector<TableCounts>> counts;  ///< [pass][table]
  std::vector<std::vector<TableCodes>> tables;   ///< the same
  ChainPlan plan;
};

/// Puts the codes of a pass in the order of tables.
void order_codes(const PassCodes& pass, const ContextTables& contexts,
                 std::vector<TableCodes>& tables) {
  TableOf table_of{};
  std::copy(contexts.table_of.begin(), contexts.table_of.end(), table_of.begin());
  const TableOrder order(pass.contexts, table_of, pass.codes.size(), contexts.tables.size());
  if (!order.is_given()) {
    std::vector<QuantCode> sorted(pass.codes.size());
    order.for_each([&](std::uint64_t i, std::uint64_t place) { sorted[place] = pass.codes[i]; });
    std::copy(sorted.begin(), sorted.end(), pass.codes.begin());
  }
  std::size_t first = 0;
  for (const std::uint64_t count : order.counts()) {
    tables.push_back({pass.codes.subspan(first, count), {}});
    first += count;
  }
}

/// The counts of the tables of a pass without those of gaps.
std::vector<TableCounts> table_counts(std::span<const Counts> of_context,
                                      const ContextTables& contexts) {
  std::vector<TableCounts> result(contexts.tables.size());
  for (std::size_t c = of_context.size(); c-- > 0;) {
    TableCounts& counts = result[contexts.table_of[c]];
    counts.first_context = static_cast<std::uint32_t>(c);
    for (unsigned t = 0; t < token_count; ++t) counts.codes[t] += of_context[c][t];
  }
  return result;
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

/// The values of a list, of which one span is empty.
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

/// Frequencies and their sums, as the encoder needs them.
using EncoderTable = std::array<TokenShare, token_count>;

EncoderTable encoder_table(const FrequencyTable& table) {
  EncoderTable shares{};
  std::uint32_t sum = 0;
  for (unsigned t = 0; t < token_count; ++t) {
    shares[t] = {table.frequencies[t], sum};
    sum += table.frequencies[t];
  }
  return shares;
}

/// Bits in 16-bit words, the first in the lowest place.
class RawWriter {
 public:
  void put(std::uint32_t bits, unsigned count) {
    held_ |= std::uint64_t{bits} << held_bits_;
    held_bits_ += count;
    total_ += count;
    for (; held_bits_ >= 16; held_bits_ -= 16, held_ >>= 16) {
      words_.push_back(static_cast<std::uint16_t>(held_));
    }
  }

  std::uint64_t total() const { return total_; }

  std::span<const std::uint16_t> finish() {
    if (held_bits_ != 0) words_.push_back(static_cast<std::uint16_t>(held_));
    return words_;
  }

 private:
  std::uint64_t held_ = 0;
  unsigned held_bits_ = 0;
  std::uint64_t total_ = 0;
  std::vector<std::uint16_t> words_;
};

/// Encodes segments, each from its end to its start; the words come out in the decoder's order.
class SegmentEncoder {
 public:
  SegmentEncoder(const ChainPlan& plan, std::span<const ListValues> values,
                 std::span<const EncoderTable> tables, std::uint32_t centre)
      : plan_(plan), values_(values), tables_(tables), centre_(centre) {}

  std::vector<std::byte> encode(const ChainSegment& segment) const {
    const std::vector<SlotRun> runs = runs_of(plan_, segment);
    std::vector<std::uint8_t> tokens(segment.slots);
    RawWriter raw;
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
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      put_tokens(*run, tokens.data(), lanes, states.data(), first_word);
    }
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
        const Token token = token_of(kind, values[run.skipped + i], centre_);
        tokens[i] = token.token;
        if (token.raw_bits != 0) raw.put(token.raw, token.raw_bits);
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
                  std::uint32_t* states, std::uint16_t*& first_word) const {
    const EncoderTable& table = tables_[run.list];
    std::uint32_t lane = run.end % lanes;
    for (std::uint32_t slot = run.end; slot-- > run.begin;) {
      if (lane == 0) lane = lanes;
      std::uint32_t& state = states[--lane];
      const TokenShare& share = table[tokens[slot]];
      const bool spills = spills_for_token(state, share.frequency);
      first_word[-1] = static_cast<std::uint16_t>(state);
      first_word -= spills ? 1 : 0;
      state = put_token(spills ? state >> 16 : state, share);
    }
  }

  const ChainPlan& plan_;
  std::span<const ListValues> values_;
  std::span<const EncoderTable> tables_;
  std::uint32_t centre_;
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
  for (const auto& segment : segments) sizes.push_back(static_cast<std::uint32_t>(segment.size()));
  ChainFrame frame = frame_segments(params, level.plan, shapes_of(passes), sizes);
  AnsStream stream{std::move(frame.index), std::move(frame.head)};
  stream.codes.reserve(std::accumulate(sizes.begin(), sizes.end(), stream.codes.size()));
  for (const auto& segment : segments) {
    stream.codes.insert(stream.codes.end(), segment.begin(), segment.end());
  }
  return stream;
}

}  // namespace cuszi::cpu

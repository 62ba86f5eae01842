#include <algorithm>
#include <array>

#include "core/ans_stream.hpp"
#include "cpu_ref/ans.hpp"
#include "cpu_ref/ans_blocks.hpp"

namespace cuszi::cpu {

namespace {

/// A string of tokens under contexts, to be coded.
struct TokenSource {
  std::span<const QuantCode> symbols;
  std::span<const std::uint8_t> contexts;  ///< none: all 0
  std::uint32_t centre;

  Token token(std::uint64_t i) const { return token_of(symbols[i], centre); }
  std::uint8_t context(std::uint64_t i) const { return contexts.empty() ? 0 : contexts[i]; }
};

std::vector<Counts> count_tokens(const TokenSource& source, std::size_t context_count) {
  std::vector<Counts> total(context_count, Counts{});
  const std::uint64_t size = source.symbols.size();
  parallel_for(
      ceil_div(size, ans_symbols_per_task),
      [&] { return std::vector<Counts>(context_count, Counts{}); },
      [&](std::vector<Counts>& counts, std::uint64_t task) {
        const std::uint64_t end = std::min(size, (task + 1) * ans_symbols_per_task);
        for (std::uint64_t i = task * ans_symbols_per_task; i < end; ++i) {
          ++counts[source.context(i)][source.token(i).token];
        }
      },
      [&](const std::vector<Counts>& counts) {
        for (std::size_t c = 0; c < context_count; ++c) {
          for (unsigned t = 0; t < token_count; ++t) total[c][t] += counts[c][t];
        }
      });
  return total;
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

/// Encodes one segment from its end to its start; the words come out in the decoder's order.
class SegmentEncoder {
 public:
  SegmentEncoder(const TokenSource& source, const StreamHead& head,
                 std::span<const EncoderTable> tables)
      : source_(source), contexts_(head.contexts), tables_(tables), layout_(head.layout) {}

  std::vector<std::byte> encode(std::uint64_t segment) {
    const std::uint32_t lanes = layout_.lanes();
    states_.fill(lane_start);
    words_.clear();
    const std::uint64_t first = segment << layout_.log_segment;
    const std::uint64_t end = std::min(layout_.symbols, first + layout_.segment());
    for (std::uint64_t step = ceil_div(end - first, lanes); step-- > 0;) {
      const std::uint64_t at = first + step * lanes;
      put_step(at, static_cast<std::uint32_t>(std::min<std::uint64_t>(lanes, end - at)));
    }
    ByteWriter out;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) out.put(states_[lane]);
    std::reverse(words_.begin(), words_.end());
    out.append(std::as_bytes(std::span(words_)));
    return out.take();
  }

 private:
  /// In the decoder's order a step has the tokens of all lanes, then the raw bits of all lanes.
  void put_step(std::uint64_t at, std::uint32_t lanes) {
    std::array<Token, most_lanes> tokens;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) tokens[lane] = source_.token(at + lane);
    for (std::uint32_t lane = lanes; lane-- > 0;) {
      if (tokens[lane].raw_bits == 0) continue;
      if (spills_for_raw(states_[lane], tokens[lane].raw_bits)) spill(states_[lane]);
      states_[lane] = put_raw(states_[lane], tokens[lane]);
    }
    for (std::uint32_t lane = lanes; lane-- > 0;) {
      const EncoderTable& table = tables_[contexts_.table_of[source_.context(at + lane)]];
      const TokenShare& share = table[tokens[lane].token];
      if (spills_for_token(states_[lane], share.frequency)) spill(states_[lane]);
      states_[lane] = put_token(states_[lane], share);
    }
  }

  void spill(std::uint32_t& state) {
    words_.push_back(static_cast<std::uint16_t>(state));
    state >>= 16;
  }

  const TokenSource& source_;
  const ContextTables& contexts_;
  std::span<const EncoderTable> tables_;
  const StreamLayout& layout_;
  std::array<std::uint32_t, most_lanes> states_{};
  std::vector<std::uint16_t> words_;
};

/// The bytes of a stream's segments.
std::vector<std::vector<std::byte>> encode_segments(const TokenSource& source,
                                                    const StreamHead& head) {
  std::vector<EncoderTable> tables;
  for (const FrequencyTable& table : head.contexts.tables) tables.push_back(encoder_table(table));
  std::vector<std::vector<std::byte>> segments(head.layout.segments());
  parallel_for(segments.size(), [&](std::uint64_t i) {
    segments[i] = SegmentEncoder(source, head, tables).encode(i);
  });
  return segments;
}

/// Which blocks are significant, as symbols of a stream of their own.
struct Significance {
  std::vector<QuantCode> flags;
  std::vector<std::uint8_t> contexts;
  std::uint64_t symbols = 0;  ///< in significant blocks
};

Significance significance_of(const TokenSource& source) {
  Significance result;
  result.contexts = block_contexts(source.contexts, source.symbols.size());
  for (std::size_t b = 0; b < result.contexts.size(); ++b) {
    const auto block = block_of(source.symbols, b);
    const bool quiet = std::all_of(block.begin(), block.end(),
                                   [&](QuantCode code) { return code == source.centre; });
    result.flags.push_back(quiet ? quiet_flag : significant_flag);
    if (!quiet) result.symbols += block.size();
  }
  return result;
}

/// Drops the zeros of quiet blocks from the counts.
std::vector<Counts> significant_counts(std::span<const Counts> counts, const TokenSource& source,
                                       const Significance& significance) {
  std::vector<Counts> result(counts.begin(), counts.end());
  for (std::size_t b = 0; b < significance.flags.size(); ++b) {
    if (significance.flags[b] != quiet_flag) continue;
    const std::uint64_t end =
        std::min<std::uint64_t>(source.symbols.size(), (b + 1) * block_symbols);
    for (std::uint64_t i = b * block_symbols; i < end; ++i) --result[source.context(i)][0];
  }
  return result;
}

/// The segments of all streams, with what surrounds them.
AnsStream join(const AnsParams& params, const AnsPlan& plan,
               std::span<const std::vector<std::byte>> segments) {
  std::vector<std::uint32_t> sizes;
  for (const auto& segment : segments) sizes.push_back(static_cast<std::uint32_t>(segment.size()));
  AnsFrame frame = frame_segments(params, plan, sizes);
  AnsStream stream{std::move(frame.index), std::move(frame.head)};
  for (const auto& segment : segments) {
    stream.codes.insert(stream.codes.end(), segment.begin(), segment.end());
  }
  return stream;
}

}  // namespace

AnsStream ans_encode(const AnsParams& params, std::span<const QuantCode> symbols,
                     std::span<const std::uint8_t> contexts, std::size_t context_count) {
  const TokenSource source{symbols, contexts, params.centre};
  const Significance significance = significance_of(source);
  if (significance.symbols == 0) return {};
  const TokenSource flags{significance.flags, significance.contexts, quiet_flag};
  AnsCounts counts{symbols.size(),
                   significance.symbols,
                   count_tokens(source, context_count),
                   {},
                   count_tokens(flags, flag_contexts)};
  counts.significant = significant_counts(counts.all, source, significance);

  const AnsPlan plan = AnsPlan::choose(params, counts);
  if (!plan.has_flags()) return join(params, plan, encode_segments(source, plan.streams[0]));
  const auto part = significant_part(symbols, significance.flags, significance.symbols);
  const auto part_contexts = significant_part(contexts, significance.flags, significance.symbols);
  auto segments = encode_segments(flags, plan.streams[0]);
  auto rest = encode_segments({part, part_contexts, params.centre}, plan.streams[1]);
  std::move(rest.begin(), rest.end(), std::back_inserter(segments));
  return join(params, plan, segments);
}

}  // namespace cuszi::cpu

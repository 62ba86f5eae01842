#include <algorithm>
#include <array>
#include <cstring>

#include "core/ans_stream.hpp"
#include "cpu_ref/ans.hpp"
#include "cpu_ref/ans_blocks.hpp"

namespace cuszi::cpu {

namespace {

/// The entry of every slot of a state.
using DecoderTable = std::vector<std::uint32_t>;

DecoderTable decoder_table(const FrequencyTable& table) {
  DecoderTable entries;
  entries.reserve(probability_one);
  for (std::uint32_t token = 0; token < token_count; ++token) {
    const std::uint32_t frequency = table.frequencies[token];
    for (std::uint32_t i = 0; i < frequency; ++i) {
      entries.push_back(decoder_entry(token, frequency, i));
    }
  }
  return entries;
}

/// Decodes one segment.
class SegmentDecoder {
 public:
  SegmentDecoder(Bytes bytes, const StreamHead& head, std::span<const DecoderTable> tables)
      : layout_(head.layout) {
    const ByteCount state_bytes = layout_.lanes() * sizeof(std::uint32_t);
    if (bytes.size() < state_bytes || bytes.size() % 2 != 0) {
      throw ArchiveError("an ANS segment is truncated");
    }
    std::memcpy(states_.data(), bytes.data(), state_bytes);
    next_ = bytes.data() + state_bytes;
    end_ = bytes.data() + bytes.size();
    for (std::size_t c = 0; c < head.contexts.table_of.size(); ++c) {
      entries_[c] = tables[head.contexts.table_of[c]].data();
    }
  }

  void decode(std::span<const std::uint8_t> contexts, std::uint32_t centre,
              std::span<QuantCode> symbols) {
    const std::size_t lanes = layout_.lanes();
    const std::array<std::uint8_t, most_lanes> no_contexts{};
    for (std::size_t at = 0; at < symbols.size(); at += lanes) {
      const std::size_t count = std::min(lanes, symbols.size() - at);
      get_step(contexts.empty() ? no_contexts.data() : contexts.data() + at, centre,
               symbols.data() + at, count);
    }
    const bool complete =
        next_ == end_ && !overrun_ &&
        std::all_of(states_.begin(), states_.begin() + static_cast<std::ptrdiff_t>(lanes),
                    [](std::uint32_t state) { return state == lane_start; });
    if (!complete) throw ArchiveError("an ANS segment does not end as it should");
  }

 private:
  void get_step(const std::uint8_t* contexts, std::uint32_t centre, QuantCode* symbols,
                std::size_t count) {
    std::array<std::uint8_t, most_lanes> tokens;
    std::uint32_t any = 0;
    for (std::size_t lane = 0; lane < count; ++lane) {
      const std::uint32_t state = states_[lane];
      const std::uint32_t entry = entries_[contexts[lane]][decoder_slot(state)];
      tokens[lane] = static_cast<std::uint8_t>(token_of_entry(entry));
      any |= token_of_entry(entry);
      states_[lane] = refill(take_token(state, entry));
    }
    if (any == 0) {
      std::fill_n(symbols, count, static_cast<QuantCode>(centre));
      return;
    }
    for (std::size_t lane = 0; lane < count; ++lane) {
      const std::uint32_t bits = raw_bits_of(tokens[lane]);
      const std::uint32_t raw = raw_of(states_[lane], bits);
      states_[lane] = refill(states_[lane] >> bits);
      symbols[lane] = code_of(tokens[lane], raw, centre);
    }
  }

  /// Beyond the end zeros follow.
  std::uint32_t refill(std::uint32_t state) {
    if (!needs_refill(state)) return state;
    std::uint16_t word = 0;
    if (next_ != end_) {
      std::memcpy(&word, next_, sizeof word);
      next_ += sizeof word;
    } else {
      overrun_ = true;
    }
    return refilled(state, word);
  }

  const StreamLayout& layout_;
  std::array<std::uint32_t, most_lanes> states_{};
  std::array<const std::uint32_t*, 256> entries_{};
  const std::byte* next_ = nullptr;
  const std::byte* end_ = nullptr;
  bool overrun_ = false;
};

void decode_segments(const StreamHead& head, std::span<const Bytes> segments,
                     std::span<const std::uint8_t> contexts, std::uint32_t centre,
                     std::span<QuantCode> symbols) {
  std::vector<DecoderTable> tables;
  for (const FrequencyTable& table : head.contexts.tables) tables.push_back(decoder_table(table));
  parallel_for(segments.size(), [&](std::uint64_t i) {
    const std::uint64_t first = i << head.layout.log_segment;
    const std::uint64_t count =
        std::min<std::uint64_t>(head.layout.segment(), symbols.size() - first);
    SegmentDecoder(segments[i], head, tables)
        .decode(contexts.empty() ? contexts : contexts.subspan(first, count), centre,
                symbols.subspan(first, count));
  });
}

/// Puts the symbols of significant blocks in their places and the centre everywhere else.
void spread(std::span<const QuantCode> part, std::span<const QuantCode> flags, QuantCode centre,
            std::span<QuantCode> symbols) {
  auto next = part.begin();
  for (std::size_t b = 0; b < flags.size(); ++b) {
    const auto block = block_of(symbols, b);
    if (flags[b] == quiet_flag) {
      std::fill(block.begin(), block.end(), centre);
    } else {
      std::copy_n(next, block.size(), block.begin());
      next += static_cast<std::ptrdiff_t>(block.size());
    }
  }
}

std::uint64_t significant_symbols(std::span<const QuantCode> flags,
                                  std::span<const QuantCode> symbols) {
  std::uint64_t count = 0;
  for (std::size_t b = 0; b < flags.size(); ++b) {
    if (flags[b] != quiet_flag && flags[b] != significant_flag) {
      throw ArchiveError("a block's flag is neither of the two");
    }
    if (flags[b] == significant_flag) count += block_of(symbols, b).size();
  }
  return count;
}

}  // namespace

void ans_decode(const AnsParams& params, Bytes index, Bytes codes,
                std::span<const std::uint8_t> contexts, std::size_t context_count,
                std::span<QuantCode> symbols) {
  const auto centre = static_cast<QuantCode>(params.centre);
  if (codes.empty() || symbols.empty()) {
    std::fill(symbols.begin(), symbols.end(), centre);
    return;
  }
  const AnsString string = AnsString::read(params, index, codes, symbols.size(), context_count);
  const AnsPlan& plan = string.plan;
  const std::span<const Bytes> segments(string.segments);
  if (!plan.has_flags()) {
    decode_segments(plan.streams[0], segments, contexts, params.centre, symbols);
    return;
  }
  const std::size_t flag_segments = plan.streams[0].layout.segments();
  std::vector<QuantCode> flags(plan.streams[0].layout.symbols);
  decode_segments(plan.streams[0], segments.first(flag_segments),
                  block_contexts(contexts, symbols.size()), quiet_flag, flags);
  if (significant_symbols(flags, symbols) != plan.significant_symbols) {
    throw ArchiveError("the blocks' flags do not agree with the number of symbols");
  }
  std::vector<QuantCode> part(plan.significant_symbols);
  decode_segments(plan.streams[1], segments.subspan(flag_segments),
                  significant_part(contexts, flags, plan.significant_symbols), params.centre, part);
  spread(part, flags, centre, symbols);
}

}  // namespace cuszi::cpu

#include "cpu_ref/ans.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/chunk_index.hpp"
#include "cpu_ref/parallel.hpp"

namespace cuszi::cpu {

namespace {

constexpr std::uint64_t symbols_per_task = std::uint64_t{1} << 18;
constexpr std::uint32_t max_lanes = 32;
constexpr std::uint8_t uses_flags = 1;

std::uint64_t mask_of(std::uint32_t bits) { return (std::uint64_t{1} << bits) - 1; }

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
      ceil_div(size, symbols_per_task),
      [&] { return std::vector<Counts>(context_count, Counts{}); },
      [&](std::vector<Counts>& counts, std::uint64_t task) {
        const std::uint64_t end = std::min(size, (task + 1) * symbols_per_task);
        for (std::uint64_t i = task * symbols_per_task; i < end; ++i) {
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

// Encoding.

/// Frequencies and their sums, as the encoder needs them.
struct EncoderTable {
  std::array<std::uint32_t, token_count> frequency{};
  std::array<std::uint32_t, token_count> first{};

  explicit EncoderTable(const FrequencyTable& table) {
    std::uint32_t sum = 0;
    for (unsigned t = 0; t < token_count; ++t) {
      frequency[t] = table.frequencies[t];
      first[t] = sum;
      sum += frequency[t];
    }
  }
};

/// Encodes one segment from its end to its start; the words come out in the decoder's order.
class SegmentEncoder {
 public:
  SegmentEncoder(const TokenSource& source, const ContextTables& contexts,
                 std::span<const EncoderTable> tables, const StreamLayout& layout)
      : source_(source), contexts_(contexts), tables_(tables), layout_(layout) {}

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
    std::array<Token, max_lanes> tokens;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) tokens[lane] = source_.token(at + lane);
    for (std::uint32_t lane = lanes; lane-- > 0;) {
      if (tokens[lane].raw_bits != 0) put_raw(states_[lane], tokens[lane]);
    }
    for (std::uint32_t lane = lanes; lane-- > 0;) {
      const EncoderTable& table = tables_[contexts_.table_of[source_.context(at + lane)]];
      put_token(states_[lane], table, tokens[lane].token);
    }
  }

  void put_raw(std::uint32_t& state, const Token& token) {
    if (state >= std::uint64_t{1} << (32 - token.raw_bits)) spill(state);
    state = state << token.raw_bits | token.raw;
  }

  void put_token(std::uint32_t& state, const EncoderTable& table, std::uint8_t token) {
    const std::uint32_t frequency = table.frequency[token];
    if (state >= std::uint64_t{frequency} << (32 - probability_bits)) spill(state);
    state = ((state / frequency) << probability_bits) + state % frequency + table.first[token];
  }

  void spill(std::uint32_t& state) {
    words_.push_back(static_cast<std::uint16_t>(state));
    state >>= 16;
  }

  const TokenSource& source_;
  const ContextTables& contexts_;
  std::span<const EncoderTable> tables_;
  const StreamLayout& layout_;
  std::array<std::uint32_t, max_lanes> states_{};
  std::vector<std::uint16_t> words_;
};

/// A string with its tables, ready to be written.
struct PlannedStream {
  TokenSource source;
  ContextTables contexts;
  StreamLayout layout;
};

/// The bits of a stream's tokens and raw bits, without tables and states.
std::uint64_t payload_bits(const ContextTables& contexts, std::span<const Counts> counts) {
  Cost cost = contexts.cost(counts);
  std::uint64_t raw = 0;
  for (const Counts& some : counts) {
    for (unsigned t = 0; t < token_count; ++t) raw += some[t] * raw_bits_of(t);
  }
  return (cost >> cost_bits) + raw;
}

std::vector<std::vector<std::byte>> encode_segments(const PlannedStream& stream) {
  std::vector<EncoderTable> tables(stream.contexts.tables.begin(), stream.contexts.tables.end());
  std::vector<std::vector<std::byte>> segments(stream.layout.segments());
  parallel_for(segments.size(), [&](std::uint64_t i) {
    segments[i] = SegmentEncoder(stream.source, stream.contexts, tables, stream.layout).encode(i);
  });
  return segments;
}

/// Which blocks have a code other than the centre, as symbols of a stream of their own.
struct Significance {
  std::vector<QuantCode> flags;  ///< 1: nothing but the centre, 2: something else
  std::vector<std::uint8_t> contexts;
  std::uint64_t symbols = 0;  ///< in significant blocks
};

constexpr QuantCode flag_centre = 1;

std::uint8_t block_context(std::span<const std::uint8_t> contexts, std::uint64_t first,
                           std::uint64_t end) {
  if (contexts.empty()) return 0;
  std::uint32_t sum = 0;
  for (std::uint64_t i = first; i < end; ++i) sum += bucket_weight(contexts[i]);
  return static_cast<std::uint8_t>(flag_context(sum));
}

std::vector<std::uint8_t> block_contexts(std::span<const std::uint8_t> contexts,
                                         std::uint64_t symbols) {
  std::vector<std::uint8_t> result(ceil_div(symbols, block_symbols));
  constexpr std::uint64_t blocks_per_task = symbols_per_task / block_symbols;
  parallel_for(ceil_div(result.size(), blocks_per_task), [&](std::uint64_t task) {
    const std::uint64_t end = std::min<std::uint64_t>(result.size(), (task + 1) * blocks_per_task);
    for (std::uint64_t b = task * blocks_per_task; b < end; ++b) {
      result[b] =
          block_context(contexts, b * block_symbols, std::min(symbols, (b + 1) * block_symbols));
    }
  });
  return result;
}

Significance significance_of(const TokenSource& source) {
  Significance result;
  const std::uint64_t size = source.symbols.size();
  result.contexts = block_contexts(source.contexts, size);
  for (std::uint64_t first = 0; first < size; first += block_symbols) {
    const auto block = source.symbols.subspan(first, std::min(block_symbols, size - first));
    const bool quiet = std::all_of(block.begin(), block.end(),
                                   [&](QuantCode code) { return code == source.centre; });
    result.flags.push_back(quiet ? flag_centre : flag_centre + 1);
    if (!quiet) result.symbols += block.size();
  }
  return result;
}

/// The symbols (or contexts) of significant blocks alone.
template <class T>
std::vector<T> significant_part(std::span<const T> all, std::span<const QuantCode> flags,
                                std::uint64_t symbols) {
  std::vector<T> part;
  part.reserve(symbols);
  for (std::size_t b = 0; b < flags.size() && !all.empty(); ++b) {
    if (flags[b] == flag_centre) continue;
    const auto block = all.subspan(
        b * block_symbols, std::min<std::size_t>(block_symbols, all.size() - b * block_symbols));
    part.insert(part.end(), block.begin(), block.end());
  }
  return part;
}

/// Drops the zeros of insignificant blocks from the counts.
std::vector<Counts> significant_counts(std::span<const Counts> counts, const TokenSource& source,
                                       const Significance& significance) {
  std::vector<Counts> result(counts.begin(), counts.end());
  for (std::size_t b = 0; b < significance.flags.size(); ++b) {
    if (significance.flags[b] != flag_centre) continue;
    const std::uint64_t end =
        std::min<std::uint64_t>(source.symbols.size(), (b + 1) * block_symbols);
    for (std::uint64_t i = b * block_symbols; i < end; ++i) --result[source.context(i)][0];
  }
  return result;
}

PlannedStream plan(const AnsParams& params, const TokenSource& source,
                   std::span<const Counts> counts) {
  PlannedStream stream{source, ContextTables::fit(counts), {}};
  stream.layout = StreamLayout::choose(params.index, source.symbols.size(),
                                       payload_bits(stream.contexts, counts));
  return stream;
}

void write_head(const PlannedStream& stream, ByteWriter& out) {
  stream.layout.write(out);
  BitWriter bits;
  stream.contexts.write(bits);
  out.append(bits.take());
}

/// Joins the segments of streams behind what `out` holds, and makes their index.
AnsStream finish(const AnsParams& params, std::span<const PlannedStream> streams, ByteWriter& out) {
  std::vector<std::uint32_t> bits;
  std::vector<std::byte> segments_bytes;
  for (const PlannedStream& stream : streams) {
    for (const std::vector<std::byte>& segment : encode_segments(stream)) {
      bits.push_back(static_cast<std::uint32_t>(segment.size() * 8));
      segments_bytes.insert(segments_bytes.end(), segment.begin(), segment.end());
    }
  }
  AnsStream result;
  if (bits.size() == 2 && streams.size() == 2) {
    out.varint(bits[0] / 16);
  } else {
    result.index = encode_index(params.index, params.partition, bits);
  }
  out.append(segments_bytes);
  result.codes = out.take();
  return result;
}

// Decoding.

/// What the lowest bits of a state say: token, frequency, and the place within it.
struct DecoderTable {
  std::vector<std::uint32_t> entries;

  explicit DecoderTable(const FrequencyTable& table) : entries(probability_one) {
    std::uint32_t slot = 0;
    for (std::uint32_t token = 0; token < token_count; ++token) {
      const std::uint32_t frequency = table.frequencies[token];
      for (std::uint32_t i = 0; i < frequency; ++i)
        entries[slot++] = token | frequency << 6 | i << 19;
    }
  }
};

/// Decodes one segment.
class SegmentDecoder {
 public:
  SegmentDecoder(Bytes bytes, const ContextTables& contexts, std::span<const DecoderTable> tables,
                 const StreamLayout& layout)
      : layout_(layout) {
    const ByteCount state_bytes = layout.lanes() * sizeof(std::uint32_t);
    if (bytes.size() < state_bytes || bytes.size() % 2 != 0) {
      throw ArchiveError("an ANS segment is truncated");
    }
    std::memcpy(states_.data(), bytes.data(), state_bytes);
    next_ = bytes.data() + state_bytes;
    end_ = bytes.data() + bytes.size();
    for (std::size_t c = 0; c < contexts.table_of.size(); ++c) {
      entries_[c] = tables[contexts.table_of[c]].entries.data();
    }
  }

  void decode(std::span<const std::uint8_t> contexts, std::uint32_t centre,
              std::span<QuantCode> symbols) {
    const std::size_t lanes = layout_.lanes();
    const std::array<std::uint8_t, max_lanes> no_contexts{};
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
    std::array<std::uint8_t, max_lanes> tokens;
    std::uint32_t any = 0;
    for (std::size_t lane = 0; lane < count; ++lane) {
      const std::uint32_t state = states_[lane];
      const std::uint32_t entry = entries_[contexts[lane]][state & (probability_one - 1)];
      tokens[lane] = entry & 63U;
      any |= entry & 63U;
      states_[lane] =
          refill(((entry >> 6) & 0x1FFFU) * (state >> probability_bits) + (entry >> 19));
    }
    if (any == 0) {
      std::fill_n(symbols, count, static_cast<QuantCode>(centre));
      return;
    }
    for (std::size_t lane = 0; lane < count; ++lane) {
      const std::uint32_t bits = raw_bits_of(tokens[lane]);
      const auto raw = static_cast<std::uint32_t>(states_[lane] & mask_of(bits));
      states_[lane] = refill(states_[lane] >> bits);
      symbols[lane] = code_of(tokens[lane], raw, centre);
    }
  }

  /// Beyond the end zeros follow.
  std::uint32_t refill(std::uint32_t state) {
    if (state >= lane_start) return state;
    std::uint16_t word = 0;
    if (next_ != end_) {
      std::memcpy(&word, next_, sizeof word);
      next_ += sizeof word;
    } else {
      overrun_ = true;
    }
    return state << 16 | word;
  }

  const StreamLayout& layout_;
  std::array<std::uint32_t, max_lanes> states_{};
  std::array<const std::uint32_t*, 256> entries_{};
  const std::byte* next_ = nullptr;
  const std::byte* end_ = nullptr;
  bool overrun_ = false;
};

/// A stream's layout and tables as read from an archive.
struct StreamHead {
  StreamLayout layout;
  ContextTables contexts;
};

StreamHead read_head(ByteReader& in, std::uint64_t symbols, std::size_t context_count) {
  StreamHead head;
  head.layout = StreamLayout::read(in, symbols);
  const Bytes rest = in.rest();
  BitReader bits(rest, "the frequency tables");
  head.contexts = ContextTables::read(bits, context_count);
  in.take(bits.bytes_read());
  return head;
}

/// The byte strings of all segments of a pass.
class SegmentBytes {
 public:
  SegmentBytes(Bytes stream, std::span<const BitCount> starts) : stream_(stream), starts_(starts) {}

  Bytes at(std::uint64_t i) const {
    const ByteCount end = i + 1 < starts_.size() ? starts_[i + 1] / 8 : stream_.size();
    const ByteCount begin = starts_[i] / 8;
    if (begin > end) throw ArchiveError("an ANS segment ends before it starts");
    return stream_.subspan(begin, end - begin);
  }

 private:
  Bytes stream_;
  std::span<const BitCount> starts_;
};

/// Where the segments of all streams start.
std::vector<BitCount> read_starts(const AnsParams& params, Bytes index, ByteReader& in,
                                  std::span<const StreamHead> heads) {
  std::uint64_t segments = 0;
  for (const StreamHead& head : heads) segments += head.layout.segments();
  if (segments == 2 && heads.size() == 2) {
    const std::uint64_t words = in.varint();
    if (words > in.remaining() / 2) throw ArchiveError("the blocks' flags are truncated");
    return {0, words * 16};
  }
  const BitCount bits = in.remaining() * 8;
  if (segments > bits / 32) throw ArchiveError("the quant-codes are truncated");
  std::vector<BitCount> starts =
      decode_index(params.index, params.partition, index, segments, bits);
  if (starts.size() != segments) throw ArchiveError("the index of an ANS stream is missing");
  return starts;
}

void decode_segments(const StreamHead& head, const SegmentBytes& bytes, std::uint64_t first_segment,
                     std::span<const std::uint8_t> contexts, std::uint32_t centre,
                     std::span<QuantCode> symbols) {
  const std::vector<DecoderTable> tables(head.contexts.tables.begin(), head.contexts.tables.end());
  parallel_for(head.layout.segments(), [&](std::uint64_t i) {
    const std::uint64_t first = i << head.layout.log_segment;
    const std::uint64_t count =
        std::min<std::uint64_t>(head.layout.segment(), symbols.size() - first);
    SegmentDecoder(bytes.at(first_segment + i), head.contexts, tables, head.layout)
        .decode(contexts.empty() ? contexts : contexts.subspan(first, count), centre,
                symbols.subspan(first, count));
  });
}

/// Puts the symbols of significant blocks in their places and the centre everywhere else.
void spread(std::span<const QuantCode> part, std::span<const QuantCode> flags, QuantCode centre,
            std::span<QuantCode> symbols) {
  auto next = part.begin();
  for (std::size_t b = 0; b < flags.size(); ++b) {
    const auto block =
        symbols.subspan(b * block_symbols,
                        std::min<std::size_t>(block_symbols, symbols.size() - b * block_symbols));
    if (flags[b] == flag_centre) {
      std::fill(block.begin(), block.end(), centre);
    } else {
      std::copy_n(next, block.size(), block.begin());
      next += static_cast<std::ptrdiff_t>(block.size());
    }
  }
}

std::uint64_t significant_symbols(std::span<const QuantCode> flags, std::uint64_t symbols) {
  std::uint64_t count = 0;
  for (std::size_t b = 0; b < flags.size(); ++b) {
    if (flags[b] != flag_centre && flags[b] != flag_centre + 1) {
      throw ArchiveError("a block's flag is neither of the two");
    }
    if (flags[b] != flag_centre) count += std::min(block_symbols, symbols - b * block_symbols);
  }
  return count;
}

}  // namespace

AnsStream ans_encode(const AnsParams& params, std::span<const QuantCode> symbols,
                     std::span<const std::uint8_t> contexts, std::size_t context_count) {
  const TokenSource source{symbols, contexts, params.centre};
  const Significance significance = significance_of(source);
  if (significance.symbols == 0) return {};
  const std::vector<Counts> counts = count_tokens(source, context_count);
  const TokenSource flag_source{significance.flags, significance.contexts, flag_centre};
  const std::vector<Counts> flag_counts = count_tokens(flag_source, flag_contexts);
  const std::vector<Counts> few = significant_counts(counts, source, significance);

  PlannedStream plain = plan(params, source, counts);
  PlannedStream flags = plan(params, flag_source, flag_counts);
  const ContextTables significant = ContextTables::fit(few);
  const bool flags_pay =
      flags.contexts.cost(flag_counts) + significant.cost(few) < plain.contexts.cost(counts);
  ByteWriter out;
  out.put(flags_pay ? uses_flags : std::uint8_t{0});
  if (!flags_pay) {
    write_head(plain, out);
    return finish(params, std::span(&plain, 1), out);
  }
  const auto part = significant_part(symbols, significance.flags, significance.symbols);
  const auto part_contexts = significant_part(contexts, significance.flags, significance.symbols);
  std::array<PlannedStream, 2> streams{std::move(flags),
                                       plan(params, {part, part_contexts, params.centre}, few)};
  out.varint(significance.symbols);
  for (const PlannedStream& stream : streams) write_head(stream, out);
  return finish(params, streams, out);
}

void ans_decode(const AnsParams& params, Bytes index, Bytes codes,
                std::span<const std::uint8_t> contexts, std::size_t context_count,
                std::span<QuantCode> symbols) {
  const auto centre = static_cast<QuantCode>(params.centre);
  if (codes.empty() || symbols.empty()) {
    std::fill(symbols.begin(), symbols.end(), centre);
    return;
  }
  ByteReader in(codes, "the quant-codes");
  const auto mode = in.get<std::uint8_t>();
  if (mode > uses_flags) throw ArchiveError("the quant-codes are coded in an unknown way");
  if (mode == 0) {
    const StreamHead head = read_head(in, symbols.size(), context_count);
    const std::vector<BitCount> starts = read_starts(params, index, in, std::span(&head, 1));
    decode_segments(head, {in.rest(), starts}, 0, contexts, params.centre, symbols);
    return;
  }
  const std::uint64_t part_symbols = in.varint();
  if (part_symbols > symbols.size()) throw ArchiveError("more symbols are coded than there are");
  const std::array<StreamHead, 2> heads{
      read_head(in, ceil_div(symbols.size(), block_symbols), flag_contexts),
      read_head(in, part_symbols, context_count)};
  const std::vector<BitCount> starts = read_starts(params, index, in, heads);
  const SegmentBytes segments(in.rest(), starts);

  std::vector<QuantCode> flags(heads[0].layout.symbols);
  decode_segments(heads[0], segments, 0, block_contexts(contexts, symbols.size()), flag_centre,
                  flags);
  if (significant_symbols(flags, symbols.size()) != part_symbols) {
    throw ArchiveError("the blocks' flags do not agree with the number of symbols");
  }
  std::vector<QuantCode> part(part_symbols);
  decode_segments(heads[1], segments, heads[0].layout.segments(),
                  significant_part(contexts, flags, part_symbols), params.centre, part);
  spread(part, flags, centre, symbols);
}

}  // namespace cuszi::cpu

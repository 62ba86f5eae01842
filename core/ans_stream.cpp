#include "core/ans_stream.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "core/bits.hpp"
#include "core/chunk_index.hpp"

namespace cuszi {

namespace {

constexpr std::uint8_t flags_mode = 1;

/// The bits of a stream's tokens and raw bits, without states.
std::uint64_t payload_bits(const ContextTables& contexts, std::span<const Counts> counts) {
  std::uint64_t raw = 0;
  for (const Counts& some : counts) {
    for (unsigned t = 0; t < token_count; ++t) raw += some[t] * raw_bits_of(t);
  }
  return (contexts.cost(counts) >> cost_bits) + raw;
}

/// Two segments, one of flags and one of symbols, need no index: the first one's words are told.
bool tells_words(const AnsPlan& plan) { return plan.has_flags() && plan.segments() == 2; }

/// Where the segments of all streams start; takes what stands in front of them from `in`.
std::vector<BitCount> read_starts(const AnsParams& params, const AnsPlan& plan, Bytes index,
                                  ByteReader& in) {
  if (tells_words(plan)) {
    const std::uint64_t words = in.varint();
    if (words > in.remaining() / 2) throw ArchiveError("the blocks' flags are truncated");
    return {0, words * 16};
  }
  const BitCount bits = in.remaining() * 8;
  const std::uint64_t segments = plan.segments();
  if (segments > bits / 32) throw ArchiveError("the quant-codes are truncated");
  std::vector<BitCount> starts =
      decode_index(params.index, params.partition, index, segments, bits);
  if (starts.size() != segments) throw ArchiveError("the index of an ANS stream is missing");
  return starts;
}

AnsPlan read_plan(ByteReader& in, std::uint64_t symbols, std::size_t contexts) {
  AnsPlan plan;
  const auto mode = in.get<std::uint8_t>();
  if (mode > flags_mode) throw ArchiveError("the quant-codes are coded in an unknown way");
  if (mode == 0) {
    plan.streams.push_back(StreamHead::read(in, symbols, contexts));
    return plan;
  }
  plan.significant_symbols = in.varint();
  if (plan.significant_symbols > symbols) {
    throw ArchiveError("more symbols are coded than there are");
  }
  plan.streams.push_back(StreamHead::read(in, ceil_div(symbols, block_symbols), flag_contexts));
  plan.streams.push_back(StreamHead::read(in, plan.significant_symbols, contexts));
  return plan;
}

}  // namespace

StreamLayout StreamLayout::choose(IndexKind index, std::uint64_t symbols,
                                  std::uint64_t payload_bits) {
  constexpr std::uint64_t payload_per_state = 2048;  // bits; a lane costs about 32
  constexpr int smallest_segment = 12;
  constexpr int most_steps = 16;
  StreamLayout layout;
  layout.symbols = symbols;
  const std::uint64_t states = std::max<std::uint64_t>(payload_bits / payload_per_state, 1);
  layout.log_lanes = std::min(static_cast<int>(std::bit_width(states)) - 1, 5);
  const int whole = static_cast<int>(std::bit_width(std::max<std::uint64_t>(symbols, 1) - 1));
  const int log_segments = static_cast<int>(std::bit_width(states >> layout.log_lanes)) - 1;
  layout.log_segment = std::max(whole - log_segments, std::min(whole, smallest_segment));
  layout.log_segment = std::min(layout.log_segment, most_steps + layout.log_lanes);
  if (index == IndexKind::none) layout.log_segment = whole;
  return layout;
}

void StreamLayout::write(ByteWriter& out) const {
  out.put(static_cast<std::uint8_t>(log_lanes));
  out.put(static_cast<std::uint8_t>(log_segment));
}

StreamLayout StreamLayout::read(ByteReader& in, std::uint64_t symbols) {
  StreamLayout layout;
  layout.symbols = symbols;
  layout.log_lanes = in.get<std::uint8_t>();
  layout.log_segment = in.get<std::uint8_t>();
  if (layout.log_lanes > 5 || layout.log_segment > 62) {
    throw ArchiveError("an ANS stream has 2^" + std::to_string(layout.log_lanes) +
                       " lanes and segments of 2^" + std::to_string(layout.log_segment) +
                       " symbols; at most 2^5 and 2^62 are possible");
  }
  return layout;
}

StreamHead StreamHead::plan(IndexKind index, std::uint64_t symbols,
                            std::span<const Counts> counts) {
  StreamHead head{{}, ContextTables::fit(counts)};
  head.layout = StreamLayout::choose(index, symbols, payload_bits(head.contexts, counts));
  return head;
}

void StreamHead::write(ByteWriter& out) const {
  layout.write(out);
  BitWriter bits;
  contexts.write(bits);
  out.append(bits.take());
}

StreamHead StreamHead::read(ByteReader& in, std::uint64_t symbols, std::size_t contexts) {
  StreamHead head;
  head.layout = StreamLayout::read(in, symbols);
  BitReader bits(in.rest(), "the frequency tables");
  head.contexts = ContextTables::read(bits, contexts);
  in.take(bits.bytes_read());
  return head;
}

std::uint64_t AnsPlan::segments() const {
  std::uint64_t count = 0;
  for (const StreamHead& stream : streams) count += stream.layout.segments();
  return count;
}

AnsPlan AnsPlan::choose(const AnsParams& params, const AnsCounts& counts) {
  StreamHead all = StreamHead::plan(params.index, counts.symbols, counts.all);
  StreamHead flags =
      StreamHead::plan(params.index, ceil_div(counts.symbols, block_symbols), counts.flags);
  StreamHead significant =
      StreamHead::plan(params.index, counts.significant_symbols, counts.significant);
  const Cost with_flags =
      flags.contexts.cost(counts.flags) + significant.contexts.cost(counts.significant);
  if (with_flags < all.contexts.cost(counts.all)) {
    return {counts.significant_symbols, {std::move(flags), std::move(significant)}};
  }
  return {0, {std::move(all)}};
}

AnsFrame frame_segments(const AnsParams& params, const AnsPlan& plan,
                        std::span<const std::uint32_t> segment_bytes) {
  ByteWriter head;
  head.put(plan.has_flags() ? flags_mode : std::uint8_t{0});
  if (plan.has_flags()) head.varint(plan.significant_symbols);
  for (const StreamHead& stream : plan.streams) stream.write(head);
  AnsFrame frame;
  if (tells_words(plan)) {
    head.varint(segment_bytes[0] / 2);
  } else {
    std::vector<std::uint32_t> bits(segment_bytes.size());
    std::transform(segment_bytes.begin(), segment_bytes.end(), bits.begin(),
                   [](std::uint32_t bytes) { return 8 * bytes; });
    frame.index = encode_index(params.index, params.partition, bits);
  }
  frame.head = head.take();
  return frame;
}

AnsString AnsString::read(const AnsParams& params, Bytes index, Bytes codes, std::uint64_t symbols,
                          std::size_t contexts) {
  ByteReader in(codes, "the quant-codes");
  AnsString string{read_plan(in, symbols, contexts), {}};
  const std::vector<BitCount> starts = read_starts(params, string.plan, index, in);
  const Bytes bytes = in.rest();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const ByteCount begin = starts[i] / 8;
    const ByteCount end = i + 1 < starts.size() ? starts[i + 1] / 8 : bytes.size();
    if (begin > end) throw ArchiveError("an ANS segment ends before it starts");
    string.segments.push_back(bytes.subspan(begin, end - begin));
  }
  return string;
}

}  // namespace cuszi

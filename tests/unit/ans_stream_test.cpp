#include "core/ans_stream.hpp"

#include <array>

#include "core/energy.hpp"
#include "cpu_ref/ans.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

constexpr std::uint32_t centre = 512;
constexpr std::size_t context_count = contexts_per_group;

/// Quant-codes, quiet in most blocks, and their contexts.
struct Codes {
  std::vector<QuantCode> symbols;
  std::vector<std::uint8_t> contexts;
};

Codes random_codes(Random& random, std::size_t count, std::uint64_t noisy_blocks) {
  Codes codes;
  for (std::size_t i = 0; i < count; ++i) {
    const bool noisy = i / block_symbols % 10 < noisy_blocks;
    const auto delta = noisy ? static_cast<std::int32_t>(random.below(41)) - 20 : 0;
    codes.symbols.push_back(static_cast<QuantCode>(static_cast<std::int32_t>(centre) + delta));
    codes.contexts.push_back(static_cast<std::uint8_t>(random.below(8)));
  }
  return codes;
}

/// One segment, symbol by symbol, by the functions of core alone.
std::vector<QuantCode> decode_segment(const StreamHead& head, Bytes bytes,
                                      std::span<const std::uint8_t> contexts, std::size_t symbols,
                                      std::uint32_t centre_code) {
  ByteReader in(bytes, "a segment");
  std::vector<std::uint32_t> states(head.layout.lanes());
  for (std::uint32_t& state : states) state = in.get<std::uint32_t>();
  const auto refill = [&](std::uint32_t state) {
    return needs_refill(state) ? refilled(state, in.get<std::uint16_t>()) : state;
  };
  const auto take = [&](std::uint32_t& state, std::uint8_t context) {
    const FrequencyTable& table = head.contexts.tables[head.contexts.table_of[context]];
    std::uint32_t first = 0;
    std::uint32_t token = 0;
    while (decoder_slot(state) >= first + table.frequencies[token]) {
      first += table.frequencies[token++];
    }
    state = refill(take_token(
        state, decoder_entry(token, table.frequencies[token], decoder_slot(state) - first)));
    return token;
  };
  std::vector<QuantCode> decoded;
  for (std::size_t at = 0; at < symbols; at += states.size()) {
    const std::size_t lanes = std::min(states.size(), symbols - at);
    std::vector<std::uint32_t> tokens;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      tokens.push_back(take(states[lane], contexts[at + lane]));
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t bits = raw_bits_of(tokens[lane]);
      decoded.push_back(code_of(tokens[lane], raw_of(states[lane], bits), centre_code));
      if (bits != 0) states[lane] = refill(states[lane] >> bits);
    }
  }
  in.expect_end();
  for (const std::uint32_t state : states) REQUIRE(state == lane_start);
  return decoded;
}

std::vector<QuantCode> decode_stream(const StreamHead& head, std::span<const Bytes> segments,
                                     std::span<const std::uint8_t> contexts,
                                     std::uint32_t centre_code) {
  std::vector<QuantCode> decoded;
  for (const Bytes segment : segments) {
    const std::size_t first = decoded.size();
    const std::size_t count = std::min<std::size_t>(head.layout.segment(), contexts.size() - first);
    const auto part =
        decode_segment(head, segment, contexts.subspan(first, count), count, centre_code);
    decoded.insert(decoded.end(), part.begin(), part.end());
  }
  return decoded;
}

std::uint8_t context_of_block(std::span<const std::uint8_t> all, std::size_t block) {
  std::uint32_t sum = 0;
  for (std::size_t i = block * block_symbols;
       i < std::min<std::size_t>(all.size(), (block + 1) * block_symbols); ++i) {
    sum += bucket_weight(all[i]);
  }
  return static_cast<std::uint8_t>(flag_context(sum));
}

/// The whole string, as docs/format.md has it.
std::vector<QuantCode> decode_slowly(const AnsParams& params, const cpu::AnsStream& stream,
                                     std::span<const std::uint8_t> all) {
  const AnsString string =
      AnsString::read(params, stream.index, stream.codes, all.size(), context_count);
  const std::span<const Bytes> segments(string.segments);
  if (!string.plan.has_flags()) {
    return decode_stream(string.plan.streams[0], segments, all, params.centre);
  }
  std::vector<std::uint8_t> flag_contexts_of;
  for (std::size_t b = 0; b * block_symbols < all.size(); ++b) {
    flag_contexts_of.push_back(context_of_block(all, b));
  }
  const std::size_t flag_segments = string.plan.streams[0].layout.segments();
  const auto flags = decode_stream(string.plan.streams[0], segments.first(flag_segments),
                                   flag_contexts_of, quiet_flag);
  std::vector<std::uint8_t> loud;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (flags[i / block_symbols] == significant_flag) loud.push_back(all[i]);
  }
  const auto part =
      decode_stream(string.plan.streams[1], segments.subspan(flag_segments), loud, params.centre);
  std::vector<QuantCode> decoded;
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_loud = flags[i / block_symbols] == significant_flag;
    decoded.push_back(is_loud ? part.at(next++) : static_cast<QuantCode>(params.centre));
  }
  return decoded;
}

}  // namespace

TEST_CASE("streams decode by the functions of core alone") {
  Random random(3);
  bool with_flags = false;
  bool without = false;
  for (const std::size_t count : {1U, 63U, 5000U, 70'000U}) {
    for (const std::uint64_t noisy_blocks : {1U, 5U, 10U}) {
      for (const IndexKind index : {IndexKind::none, IndexKind::hybrid, IndexKind::length}) {
        const Codes codes = random_codes(random, count, noisy_blocks);
        const AnsParams params{centre, index, 4};
        const auto stream = cpu::ans_encode(params, codes.symbols, codes.contexts, context_count);
        if (stream.codes.empty()) continue;
        REQUIRE(decode_slowly(params, stream, codes.contexts) == codes.symbols);
        (static_cast<unsigned>(stream.codes[0]) != 0 ? with_flags : without) = true;
      }
    }
  }
  CHECK(with_flags);
  CHECK(without);
}

TEST_CASE("what a lane takes in comes out again") {
  Random random(4);
  for (int i = 0; i < 10'000; ++i) {
    const auto state = static_cast<std::uint32_t>(lane_start + random.below(0xFFFF0000U));
    const auto frequency = static_cast<std::uint32_t>(1 + random.below(probability_one - 1));
    const auto first = static_cast<std::uint32_t>(random.below(probability_one - frequency + 1));
    const std::uint32_t small = spills_for_token(state, frequency) ? state >> 16 : state;
    const std::uint32_t put = put_token(small, {frequency, first});
    REQUIRE(put >= lane_start);
    const std::uint32_t slot = decoder_slot(put);
    REQUIRE((slot >= first && slot < first + frequency));
    const std::uint32_t left = take_token(put, decoder_entry(7, frequency, slot - first));
    REQUIRE(left == small);
    REQUIRE((needs_refill(left) ? refilled(left, static_cast<std::uint16_t>(state)) : left) ==
            state);
    const auto raw_bits = static_cast<std::uint8_t>(1 + random.below(15));
    const auto raw = static_cast<std::uint16_t>(random.below(std::uint64_t{1} << raw_bits));
    const std::uint32_t room = spills_for_raw(state, raw_bits) ? state >> 16 : state;
    const std::uint32_t with_raw = put_raw(room, {0, raw_bits, raw});
    REQUIRE(raw_of(with_raw, raw_bits) == raw);
    REQUIRE(with_raw >> raw_bits == room);
  }
}

}  // namespace cuszi::test

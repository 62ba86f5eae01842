#include "cpu_ref/coders/ans.hpp"

#include <algorithm>
#include <bit>

#include "core/base/error.hpp"
#include "core/multilevel/context.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

constexpr std::uint32_t middle = 32'768;
constexpr std::size_t context_count = 2 * contexts_per_group;

/// Quant-codes under contexts: the higher the bucket, the larger the codes.
struct Coded {
  std::vector<QuantCode> symbols;
  std::vector<std::uint8_t> contexts;

  PassShape shape() const { return {symbols.size(), context_count}; }
};

Coded random_coded(Random& random, std::size_t count, unsigned loudest) {
  Coded coded;
  for (std::size_t i = 0; i < count; ++i) {
    const bool quiet_block = i / 64 % 3 != 0;
    const unsigned bucket = quiet_block ? 0 : static_cast<unsigned>(random.below(loudest + 1));
    const std::uint64_t noise = random.next();
    const std::uint32_t delta =
        bucket == 0 ? 0 : static_cast<std::uint32_t>(noise >> (64 - bucket));
    coded.symbols.push_back(
        static_cast<QuantCode>(random.one_in(2) ? middle + delta : middle - delta));
    coded.contexts.push_back(static_cast<std::uint8_t>(bucket + (random.one_in(2) ? 16 : 0)));
    if (random.one_in(500)) coded.symbols.back() = outlier_code;
  }
  return coded;
}

cpu::AnsStream encode(const AnsParams& params, std::span<const Coded> passes) {
  std::vector<std::vector<QuantCode>> codes;
  std::vector<cpu::PassCodes> level;
  for (const Coded& pass : passes) codes.push_back(pass.symbols);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    level.push_back({codes[i], passes[i].contexts, passes[i].shape()});
  }
  return cpu::ans_encode(params, level);
}

/// Whether all passes come back.
bool decodes(const AnsParams& params, const cpu::AnsStream& stream, std::span<const Coded> passes) {
  std::vector<PassShape> shapes;
  for (const Coded& pass : passes) shapes.push_back(pass.shape());
  const cpu::AnsLevel level(params, stream.index, stream.codes, shapes);
  bool same = true;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    std::vector<QuantCode> codes(passes[i].symbols.size());
    level.place(i, passes[i].contexts, codes);
    same = same && codes == passes[i].symbols;
  }
  return same;
}

}  // namespace

TEST_CASE("tokens and their raw bits give every code back") {
  for (std::uint32_t code = 1; code <= 65'535; ++code) {
    for (const SlotKind kind : {SlotKind::code, SlotKind::magnitude}) {
      const std::uint32_t value =
          kind == SlotKind::code ? code : magnitude_of(static_cast<QuantCode>(code), middle);
      if (kind == SlotKind::magnitude && value < least_magnitude) continue;
      const Token token = token_of(kind, value, middle);
      REQUIRE(token.token < tokens_of(kind));
      REQUIRE(token.raw_bits == raw_bits_of(kind, token.token));
      REQUIRE(std::bit_width(token.raw) <= token.raw_bits);
      REQUIRE(value_of_slot(kind, token.token, token.raw, middle) == value);
    }
  }
  CHECK(token_of(SlotKind::code, outlier_code, middle).token == outlier_token);
  CHECK(value_of_slot(SlotKind::code, outlier_token, 0, middle) == outlier_code);
  CHECK(value_of_slot(SlotKind::magnitude, tokens_of(SlotKind::magnitude) - 1, 0, middle) == 0);
}

TEST_CASE("no quant-code takes more bits than a frame counts on") {
  std::uint64_t most = 0;
  for (std::uint32_t code = 0; code < 2 * middle; ++code) {
    most = std::max<std::uint64_t>(most, token_of(SlotKind::code, code, middle).raw_bits);
  }
  CHECK(probability_bits + most == most_code_bits);
}

TEST_CASE("tokens and their raw bits give gaps back") {
  Random random(5);
  for (int i = 0; i < 100'000; ++i) {
    const auto gap = static_cast<std::uint32_t>(random.below(most_gap + 1) >> random.below(28));
    for (const SlotKind kind : {SlotKind::gap, SlotKind::inner_gap}) {
      const std::uint32_t value =
          kind == SlotKind::gap ? gap << 1 | (random.one_in(2) ? 1U : 0U) : gap;
      const Token token = token_of(kind, value, middle);
      REQUIRE(token.token < token_count);
      REQUIRE(token.raw_bits == raw_bits_of(kind, token.token));
      REQUIRE(value_of_slot(kind, token.token, token.raw, middle) == value);
    }
  }
  CHECK(token_of_number(most_gap).token == token_count - 1);
}

TEST_CASE("the passes of a level come back under their contexts") {
  Random random(1);
  for (const std::size_t count : {1U, 63U, 64U, 65U, 4'000U, 300'000U}) {
    for (const IndexKind index :
         {IndexKind::none, IndexKind::offset, IndexKind::length, IndexKind::hybrid}) {
      for (const unsigned loudest : {0U, 1U, 5U, 13U}) {
        if (sanitized && count > 4'000 && index != IndexKind::hybrid) continue;
        INFO(count << " symbols, index " << static_cast<int>(index) << ", bucket " << loudest);
        const std::vector<Coded> passes{random_coded(random, count, loudest),
                                        random_coded(random, count / 2, 0),
                                        random_coded(random, 1 + count / 3, loudest)};
        const AnsParams params{middle, index, 4};
        REQUIRE(decodes(params, encode(params, passes), passes));
      }
    }
  }
}

TEST_CASE("codes that are all the centre take no bytes") {
  const std::vector<Coded> passes{{std::vector<QuantCode>(10'000, QuantCode{middle}), {}}};
  const auto stream = encode({middle}, passes);
  CHECK(stream.codes.empty());
  CHECK(stream.index.empty());
  CHECK(decodes({middle}, stream, passes));
}

TEST_CASE("a rare event costs what its probability says, and next to no slots") {
  Coded pass{std::vector<QuantCode>(1'000'000, QuantCode{middle}), {}};
  Random random(2);
  for (QuantCode& symbol : pass.symbols) {
    if (random.one_in(1'000)) symbol = middle + 1;
  }
  // 0.0114 bits a symbol for the event, 0.001 for the sign.
  const auto stream = encode({middle}, std::span(&pass, 1));
  CHECK(static_cast<double>(stream.codes.size()) * 8 < 0.013 * 1'000'000);
  const PassShape shape = pass.shape();
  CHECK(CodedChain::read({middle}, stream.index, stream.codes, std::span(&shape, 1)).plan.slots() <
        2'000);
}

TEST_CASE("what a level costs is known before it is coded", "[unsanitized]") {
  Random random(6);
  for (const unsigned loudest : {1U, 5U, 13U}) {
    Coded pass = random_coded(random, 300'000, loudest);
    const auto stream = encode({middle}, std::span(&pass, 1));
    const cpu::PassCodes codes{pass.symbols, pass.contexts, pass.shape()};
    const auto told = static_cast<double>(cpu::ans_bytes({middle}, std::span(&codes, 1)));
    CHECK(std::abs(told / static_cast<double>(stream.codes.size()) - 1) < 0.006);
  }
}

TEST_CASE("a changed or shortened stream is an error or other symbols, never more") {
  Random random(3);
  const std::vector<Coded> passes{random_coded(random, 40'000, 6), random_coded(random, 9'000, 1)};
  const AnsParams params{middle};
  const auto good = encode(params, passes);
  int refused = 0;
  const int tries = sanitized ? 60 : 300;
  for (int i = 0; i < tries; ++i) {
    auto stream = good;
    if (random.one_in(3)) {
      stream.codes.resize(random.below(stream.codes.size()));
    } else {
      stream.codes[random.below(stream.codes.size())] ^=
          static_cast<std::byte>(1 << random.below(8));
    }
    try {
      decodes(params, stream, passes);
    } catch (const ArchiveError&) {
      ++refused;
    }
  }
  CHECK(refused > tries / 3);
  auto cut = good;
  cut.codes.resize(good.codes.size() - 2);
  CHECK_THROWS_AS(decodes(params, cut, passes), ArchiveError);
}

TEST_CASE("contexts that do not agree with the codes are an error") {
  Random random(7);
  for (const unsigned loudest : {1U, 5U}) {
    const std::vector<Coded> passes{random_coded(random, 20'000, loudest)};
    const auto stream = encode({middle}, passes);
    std::vector<Coded> others = passes;
    std::reverse(others[0].contexts.begin(), others[0].contexts.end());
    others[0].contexts[7] = static_cast<std::uint8_t>(others[0].contexts[7] == 1 ? 0 : 1);
    std::fill(others[0].contexts.begin(), others[0].contexts.begin() + 9'000, std::uint8_t{31});
    CHECK_THROWS_AS(decodes({middle}, stream, others), ArchiveError);
  }
}

TEST_CASE("the integer logarithm is close to the real one") {
  CHECK(log2_of(1) == 0);
  CHECK(log2_of(1024) == 10U << cost_bits);
  CHECK(log2_of(3) == 103'872);  // 1.58496 x 2^16
  CHECK(log2_of(std::uint64_t{1} << 63) == 63U << cost_bits);
}

}  // namespace cuszi::test

#include "cpu_ref/ans.hpp"

#include <algorithm>

#include "core/energy.hpp"
#include "core/error.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

constexpr std::uint32_t centre = 32'768;
constexpr std::size_t context_count = 2 * contexts_per_group;

/// Quant-codes under contexts: the higher the bucket, the larger the codes.
struct Coded {
  std::vector<QuantCode> symbols;
  std::vector<std::uint8_t> contexts;
};

Coded random_codes(Random& random, std::size_t count, unsigned loudest) {
  Coded coded;
  for (std::size_t i = 0; i < count; ++i) {
    const bool quiet_block = i / block_symbols % 3 != 0;
    const unsigned bucket = quiet_block ? 0 : static_cast<unsigned>(random.below(loudest + 1));
    const std::uint64_t noise = random.next();
    const std::uint32_t delta =
        bucket == 0 ? 0 : static_cast<std::uint32_t>(noise >> (64 - bucket));
    coded.symbols.push_back(
        static_cast<QuantCode>(random.one_in(2) ? centre + delta : centre - delta));
    coded.contexts.push_back(static_cast<std::uint8_t>(bucket + (random.one_in(2) ? 16 : 0)));
    if (random.one_in(500)) coded.symbols.back() = outlier_code;
  }
  return coded;
}

std::vector<QuantCode> decode(const AnsParams& params, const cpu::AnsStream& stream,
                              const Coded& coded) {
  std::vector<QuantCode> symbols(coded.symbols.size());
  cpu::ans_decode(params, stream.index, stream.codes, coded.contexts, context_count, symbols);
  return symbols;
}

}  // namespace

TEST_CASE("tokens and their raw bits give every code back") {
  for (std::uint32_t code = 1; code <= 65'535; ++code) {
    const Token token = token_of(static_cast<QuantCode>(code), centre);
    REQUIRE(token.token < token_count);
    REQUIRE(token.raw_bits == raw_bits_of(token.token));
    REQUIRE(code_of(token.token, token.raw, centre) == code);
  }
  CHECK(token_of(outlier_code, centre).token == outlier_token);
  CHECK(code_of(outlier_token, 0, centre) == outlier_code);
}

TEST_CASE("streams under contexts come back") {
  Random random(1);
  for (const std::size_t count : {1U, 63U, 64U, 65U, 4'000U, 300'000U}) {
    for (const IndexKind index :
         {IndexKind::none, IndexKind::offset, IndexKind::length, IndexKind::hybrid}) {
      for (const unsigned loudest : {0U, 1U, 5U, 13U}) {
        INFO(count << " symbols, index " << static_cast<int>(index) << ", bucket " << loudest);
        const Coded coded = random_codes(random, count, loudest);
        const AnsParams params{centre, index, 4};
        const auto stream = cpu::ans_encode(params, coded.symbols, coded.contexts, context_count);
        REQUIRE(decode(params, stream, coded) == coded.symbols);
      }
    }
  }
}

TEST_CASE("symbols that are all the centre take no bytes") {
  const std::vector<QuantCode> symbols(10'000, QuantCode{centre});
  const auto stream = cpu::ans_encode({centre}, symbols, {}, 1);
  CHECK(stream.codes.empty());
  CHECK(stream.index.empty());
  std::vector<QuantCode> restored(symbols.size());
  cpu::ans_decode({centre}, {}, {}, {}, 1, restored);
  CHECK(restored == symbols);
}

TEST_CASE("a rare event costs what its probability says") {
  std::vector<QuantCode> symbols(1'000'000, QuantCode{centre});
  Random random(2);
  for (QuantCode& symbol : symbols) {
    if (random.one_in(1'000)) symbol = centre + 1;
  }
  // 0.0114 bits a symbol for the event, 0.001 for the sign.
  const auto stream = cpu::ans_encode({centre}, symbols, {}, 1);
  CHECK(static_cast<double>(stream.codes.size()) * 8 < 0.0134 * 1'000'000);
}

TEST_CASE("a changed or shortened stream is an error or other symbols, never more") {
  Random random(3);
  const Coded coded = random_codes(random, 40'000, 6);
  const AnsParams params{centre};
  const auto good = cpu::ans_encode(params, coded.symbols, coded.contexts, context_count);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    auto stream = good;
    if (random.one_in(3)) {
      stream.codes.resize(random.below(stream.codes.size()));
    } else {
      stream.codes[random.below(stream.codes.size())] ^=
          static_cast<std::byte>(1 << random.below(8));
    }
    try {
      decode(params, stream, coded);
    } catch (const ArchiveError&) {
      ++refused;
    }
  }
  CHECK(refused > 100);
  auto cut = good;
  cut.codes.resize(good.codes.size() - 2);
  CHECK_THROWS_AS(decode(params, cut, coded), ArchiveError);
}

TEST_CASE("frequency tables come back as written") {
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    std::vector<Counts> counts(1 + random.below(30), Counts{});
    for (Counts& some : counts) {
      const std::uint64_t tokens = random.below(token_count + 1);
      for (std::uint64_t t = 0; t < tokens; ++t) some[t] = random.next() >> (32 + random.below(32));
    }
    const ContextTables tables = ContextTables::fit(counts);
    BitWriter bits;
    tables.write(bits);
    const std::vector<std::byte> bytes = bits.take();
    BitReader in(bytes, "tables");
    const ContextTables read = ContextTables::read(in, counts.size());
    REQUIRE(read.table_of == tables.table_of);
    for (std::size_t t = 0; t < tables.tables.size(); ++t) {
      REQUIRE(read.tables[t].frequencies == tables.tables[t].frequencies);
    }
    for (std::size_t c = 0; c < counts.size(); ++c) {
      for (unsigned t = 0; t < token_count; ++t) {
        if (counts[c][t] != 0) REQUIRE(tables.tables[tables.table_of[c]].frequencies[t] != 0);
      }
    }
  }
}

TEST_CASE("the integer logarithm is close to the real one") {
  CHECK(log2_of(1) == 0);
  CHECK(log2_of(1024) == 10U << cost_bits);
  CHECK(log2_of(3) == 103'872);  // 1.58496 x 2^16
  CHECK(log2_of(std::uint64_t{1} << 63) == 63U << cost_bits);
}

}  // namespace cuszi::test

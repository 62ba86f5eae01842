#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "cpu_ref/coders/coder.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

using Symbols = std::vector<QuantCode>;

/// Symbols around a centre, the further the rarer.
Symbols random_symbols(Random& random, std::size_t count, unsigned spread) {
  Symbols symbols(count);
  for (QuantCode& symbol : symbols) {
    symbol = static_cast<QuantCode>(32'768 + random.below(1 + (random.next() >> (64 - spread))));
  }
  return symbols;
}

/// Symbols whose frequencies are the Fibonacci numbers: the longest codeword has `symbols` - 1
/// bits.
Symbols fibonacci_symbols(std::uint16_t symbols) {
  Symbols result;
  std::size_t count = 1;
  std::size_t next = 1;
  for (std::uint16_t symbol = 0; symbol < symbols; ++symbol) {
    result.insert(result.end(), count, symbol);
    count = std::exchange(next, next + count);
  }
  return result;
}

Symbols decode(const HuffmanParams& params, const cpu::HuffmanStream& stream, std::size_t count) {
  Symbols symbols(count);
  cpu::huffman_decode(params, stream.codebook, stream.index, stream.codes, symbols);
  return symbols;
}

constexpr IndexKind kinds[] = {IndexKind::none, IndexKind::offset, IndexKind::length,
                               IndexKind::hybrid};

}  // namespace

TEST_CASE("streams of symbols come back") {
  Random random(1);
  for (const std::size_t count : {1U, 2U, 1023U, 1024U, 1025U, 40'000U, 700'000U}) {
    for (const IndexKind index : kinds) {
      const Symbols symbols = random_symbols(random, count, random.pick({1U, 4U, 9U, 14U}));
      for (const std::uint32_t chunk : {64U, 1024U, 1U << 20}) {
        INFO(count << " symbols, chunks of " << chunk << ", index " << static_cast<int>(index));
        const HuffmanParams params{chunk, index, 32};
        const auto stream = cpu::huffman_encode(params, HuffmanWidth::automatic, symbols);
        REQUIRE(decode(params, stream, count) == symbols);
      }
    }
  }
}

TEST_CASE("a lone symbol takes one bit, no symbols take none") {
  const HuffmanParams params;
  const auto lone =
      cpu::huffman_encode(params, HuffmanWidth::automatic, Symbols(8'000, QuantCode{77}));
  CHECK(lone.codes == std::vector<std::byte>(1'000));
  CHECK(decode(params, lone, 8'000) == Symbols(8'000, QuantCode{77}));
  const auto none = cpu::huffman_encode(params, HuffmanWidth::automatic, {});
  CHECK(none.codes.empty());
  CHECK(decode(params, none, 0).empty());
}

TEST_CASE("the width of the encoder's units does not show in the stream") {
  Random random(2);
  const Symbols symbols = random_symbols(random, 300'000, 12);
  const HuffmanParams params;
  const auto narrow = cpu::huffman_encode(params, HuffmanWidth::u32, symbols);
  const auto wide = cpu::huffman_encode(params, HuffmanWidth::u64, symbols);
  const auto automatic = cpu::huffman_encode(params, HuffmanWidth::automatic, symbols);
  CHECK(narrow.codes == wide.codes);
  CHECK(narrow.index == wide.index);
  CHECK(narrow.codebook == wide.codebook);
  CHECK(automatic.codes == wide.codes);
}

TEST_CASE("codewords beyond 24 bits need the wide unit") {
  const Symbols symbols = fibonacci_symbols(28);
  const HuffmanParams params;
  CHECK_THROWS_AS(cpu::huffman_encode(params, HuffmanWidth::u32, symbols), UsageError);
  const auto wide = cpu::huffman_encode(params, HuffmanWidth::u64, symbols);
  const auto automatic = cpu::huffman_encode(params, HuffmanWidth::automatic, symbols);
  CHECK(automatic.codes == wide.codes);
  CHECK(decode(params, wide, symbols.size()) == symbols);
}

TEST_CASE("streams that are too short are refused") {
  Random random(3);
  const Symbols symbols = random_symbols(random, 5'000, 8);
  for (const IndexKind index : kinds) {
    const HuffmanParams params{256, index, 4};
    const auto good = cpu::huffman_encode(params, HuffmanWidth::automatic, symbols);
    for (const std::size_t cut : {std::size_t{1}, good.codes.size() / 2, good.codes.size()}) {
      auto stream = good;
      stream.codes.resize(good.codes.size() - cut);
      CHECK_THROWS_AS(decode(params, stream, symbols.size()), ArchiveError);
    }
    auto no_book = good;
    no_book.codebook.clear();
    CHECK_THROWS_AS(decode(params, no_book, symbols.size()), ArchiveError);
  }
}

TEST_CASE("damaged streams are refused or give symbols of the book") {
  Random random(4);
  const Symbols symbols = random_symbols(random, 3'000, 6);
  const HuffmanParams params{64, IndexKind::hybrid, 4};
  const auto good = cpu::huffman_encode(params, HuffmanWidth::automatic, symbols);
  const QuantCode largest = *std::max_element(symbols.begin(), symbols.end());
  for (int i = 0; i < 2'000; ++i) {
    auto stream = good;
    stream.codes[random.below(stream.codes.size())] ^=
        static_cast<std::byte>(1 + random.below(255));
    try {
      const Symbols decoded = decode(params, stream, symbols.size());
      REQUIRE(*std::max_element(decoded.begin(), decoded.end()) <= largest);
    } catch (const ArchiveError&) {
      SUCCEED("refused");
    }
  }
}

}  // namespace cuszi::test

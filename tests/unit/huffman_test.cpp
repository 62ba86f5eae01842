#include "core/coders/huffman.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

#include "core/base/error.hpp"
#include "test_data/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

using Histogram = std::vector<std::uint64_t>;
using Lengths = std::vector<std::uint8_t>;

Histogram random_histogram(Random& random) {
  Histogram histogram(1 + random.below(400), 0);
  const std::uint64_t one_in = random.pick({1U, 3U, 30U});
  const unsigned bits = random.pick({2U, 8U, 30U});
  for (std::uint64_t& count : histogram) {
    if (random.one_in(one_in)) count = random.next() >> (64 - 1 - random.below(bits));
  }
  return histogram;
}

/// The bits that the best prefix code needs, by a priority queue of weights.
std::uint64_t least_bits(const Histogram& histogram) {
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> weights;
  for (const std::uint64_t count : histogram) {
    if (count != 0) weights.push(count);
  }
  if (weights.size() == 1) return weights.top();
  std::uint64_t bits = 0;
  while (weights.size() > 1) {
    std::uint64_t sum = weights.top();
    weights.pop();
    sum += weights.top();
    weights.pop();
    bits += sum;
    weights.push(sum);
  }
  return bits;
}

std::uint64_t bits_with(const Histogram& histogram, const Lengths& lengths) {
  return std::inner_product(histogram.begin(), histogram.end(), lengths.begin(), std::uint64_t{0});
}

/// Counts whose best code has one codeword of every length up to `symbols` - 1.
Histogram fibonacci(std::size_t symbols) {
  Histogram histogram(symbols, 1);
  for (std::size_t i = 2; i < symbols; ++i) histogram[i] = histogram[i - 1] + histogram[i - 2];
  return histogram;
}

}  // namespace

TEST_CASE("code lengths are optimal", "[unsanitized]") {
  Random random(1);
  for (int i = 0; i < 2'000; ++i) {
    const Histogram histogram = random_histogram(random);
    const Lengths lengths = code_lengths(histogram);
    REQUIRE(lengths.size() == histogram.size());
    for (std::size_t s = 0; s < histogram.size(); ++s) {
      REQUIRE((lengths[s] != 0) == (histogram[s] != 0));
    }
    REQUIRE(bits_with(histogram, lengths) == least_bits(histogram));
  }
}

TEST_CASE("between equals a leaf goes before an inner node, a lower symbol before a higher one") {
  CHECK(code_lengths(Histogram{1, 1, 2, 2}) == Lengths{2, 2, 2, 2});
  CHECK(code_lengths(Histogram{1, 1, 1}) == Lengths{2, 2, 1});
  CHECK(code_lengths(Histogram{2, 1, 1, 2, 2}) == Lengths{2, 3, 3, 2, 2});
  // Inner nodes first would give the 3s the lengths 2, 2, 1.
  CHECK(code_lengths(Histogram{1, 2, 3, 3, 3}) == Lengths{3, 3, 2, 2, 2});
}

TEST_CASE("few symbols") {
  CHECK(code_lengths(Histogram{}).empty());
  CHECK(code_lengths(Histogram{0, 0}) == Lengths{0, 0});
  CHECK(code_lengths(Histogram{0, 9, 0}) == Lengths{0, 1, 0});
  CHECK(code_lengths(Histogram{0, 9, 1}) == Lengths{0, 1, 1});
}

TEST_CASE("codewords are canonical and free of prefixes") {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    const Lengths lengths = code_lengths(random_histogram(random));
    if (std::count(lengths.begin(), lengths.end(), 0) == std::ssize(lengths)) continue;
    const auto units = codewords<std::uint64_t>(lengths);
    std::vector<std::size_t> symbols;
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      if (lengths[s] != 0) symbols.push_back(s);
    }
    std::stable_sort(symbols.begin(), symbols.end(),
                     [&](std::size_t a, std::size_t b) { return lengths[a] < lengths[b]; });
    // In this order each codeword is the one after its predecessor, extended by zeros.
    std::uint64_t expected = 0;
    int before = lengths[symbols[0]];
    for (const std::size_t s : symbols) {
      expected <<= lengths[s] - before;
      before = lengths[s];
      REQUIRE(Codeword<std::uint64_t>::length(units[s]) == lengths[s]);
      REQUIRE(Codeword<std::uint64_t>::code(units[s]) == expected++);
    }
  }
}

TEST_CASE("the commonest symbol is all zero bits") {
  const auto units = codewords<std::uint32_t>(code_lengths(Histogram{5, 3, 40, 7, 1}));
  CHECK(Codeword<std::uint32_t>::length(units[2]) == 1);
  CHECK(Codeword<std::uint32_t>::code(units[2]) == 0);
}

TEST_CASE("codewords of up to 56 bits are made and decoded") {
  Random random(3);
  for (const std::size_t symbols : {2U, 12U, 13U, 14U, 25U, 33U, 57U}) {
    const Lengths lengths = code_lengths(fibonacci(symbols));
    REQUIRE(*std::max_element(lengths.begin(), lengths.end()) == symbols - 1);
    const auto units = codewords<std::uint64_t>(lengths);
    const HuffmanDecoder decoder{CanonicalCode(lengths)};
    for (std::size_t s = 0; s < symbols; ++s) {
      const int length = Codeword<std::uint64_t>::length(units[s]);
      const std::uint64_t following = random.next() >> length;
      const std::uint64_t window = (Codeword<std::uint64_t>::code(units[s]) << (64 - length));
      const auto entry = decoder.decode(window | following);
      REQUIRE(entry.symbol == s);
      REQUIRE(entry.length == length);
    }
  }
}

TEST_CASE("codewords of 57 bits are refused") {
  const Lengths lengths = code_lengths(fibonacci(58));
  CHECK(*std::max_element(lengths.begin(), lengths.end()) == 57);
  CHECK_THROWS_AS(CanonicalCode(lengths), ArchiveError);
}

TEST_CASE("a 32-bit unit holds codewords of up to 24 bits") {
  CHECK(codewords<std::uint32_t>(code_lengths(fibonacci(25))).size() == 25);
  CHECK_THROWS_AS(codewords<std::uint32_t>(code_lengths(fibonacci(26))), UsageError);
}

TEST_CASE("length tables come back") {
  Random random(4);
  std::vector<Lengths> tables{{}, {0}, {1}, {0, 1, 0}, Lengths(65'536, 16), Lengths(1000, 0)};
  for (const std::size_t run : {191U, 192U, 193U, 384U, 385U}) {
    Lengths table(run, 7);
    table.insert(table.begin(), 3, 0);
    table.push_back(9);
    table.insert(table.end(), run, 0);
    table.push_back(9);
    tables.push_back(table);
  }
  for (int i = 0; i < 200; ++i) tables.push_back(code_lengths(random_histogram(random)));
  for (const Lengths& table : tables) {
    const auto read = read_lengths(write_lengths(table), table.size());
    REQUIRE(read.size() <= table.size());
    REQUIRE(std::equal(read.begin(), read.end(), table.begin()));
    REQUIRE(std::all_of(table.begin() + static_cast<std::ptrdiff_t>(read.size()), table.end(),
                        [](std::uint8_t length) { return length == 0; }));
  }
}

TEST_CASE("long runs of equal lengths take few bytes") {
  Lengths table(65'536, 0);
  std::fill(table.begin() + 32'000, table.begin() + 33'000, std::uint8_t{10});
  CHECK(write_lengths(table).size() < 16);
}

TEST_CASE("hostile length tables are refused") {
  const auto read = [](std::initializer_list<unsigned> bytes) {
    return read_lengths(to_bytes(bytes), 4);
  };
  CHECK(read({0, 4, 2, 64 + 2}) == Lengths{2, 2, 2, 2});
  CHECK_THROWS_AS(read({}), ArchiveError);
  CHECK_THROWS_AS(read({0}), ArchiveError);
  CHECK_THROWS_AS(read({0, 5, 2, 64 + 3}), ArchiveError);  // beyond the symbols
  CHECK_THROWS_AS(read({5, 0}), ArchiveError);
  CHECK_THROWS_AS(read({1, 4, 2, 64 + 2}), ArchiveError);
  CHECK_THROWS_AS(read({0, 4, 2, 64 + 3}), ArchiveError);     // a run beyond the table
  CHECK_THROWS_AS(read({0, 4, 2, 64 + 1}), ArchiveError);     // truncated
  CHECK_THROWS_AS(read({0, 4, 2, 64 + 2, 0}), ArchiveError);  // bytes left over
}

TEST_CASE("lengths that are no complete prefix code are refused") {
  const auto code = [](const Lengths& lengths) { return CanonicalCode(lengths).longest; };
  CHECK(code({1, 1}) == 1);
  CHECK(code({0, 1}) == 1);
  CHECK(code({2, 2, 2, 3, 3}) == 3);
  CHECK_THROWS_AS(code({}), ArchiveError);
  CHECK_THROWS_AS(code({0, 0}), ArchiveError);
  CHECK_THROWS_AS(code({2}), ArchiveError);
  CHECK_THROWS_AS(code({1, 2}), ArchiveError);
  CHECK_THROWS_AS(code({1, 1, 1}), ArchiveError);
  CHECK_THROWS_AS(code({1, 1, 56}), ArchiveError);
  CHECK_THROWS_AS(code({1, 57, 57}), ArchiveError);
  CHECK_THROWS_AS(code({1, 255, 255}), ArchiveError);
  CHECK_THROWS_AS(code(Lengths(65'536, 15)), ArchiveError);
  CHECK(code(Lengths(65'536, 16)) == 16);
}

TEST_CASE("the coder's parameters come back") {
  for (const std::uint32_t chunk : {1U, 1024U, 1U << 20}) {
    for (const IndexKind index : {IndexKind::none, IndexKind::hybrid}) {
      for (const std::uint32_t partition : {1U, 32U, 1U << 20}) {
        ByteWriter out;
        HuffmanParams{chunk, index, partition}.write(out);
        ByteReader in(out.view(), "the test");
        const HuffmanParams params = HuffmanParams::read(in);
        CHECK_NOTHROW(in.expect_end());
        CHECK(params.chunk == chunk);
        CHECK(params.index == index);
        CHECK(params.partition == partition);
      }
    }
  }
}

TEST_CASE("hostile parameters of the coder are refused") {
  const auto read = [](std::initializer_list<unsigned> bytes) {
    const auto storage = to_bytes(bytes);
    ByteReader in(storage, "the test");
    return HuffmanParams::read(in);
  };
  CHECK(read({10, 3, 32}).chunk == 1024);
  CHECK_THROWS_AS(read({21, 3, 32}), ArchiveError);
  CHECK_THROWS_AS(read({255, 3, 32}), ArchiveError);
  CHECK_THROWS_AS(read({10, 4, 32}), ArchiveError);
  CHECK_THROWS_AS(read({10, 3, 0}), ArchiveError);
  CHECK_THROWS_AS(read({10, 3, 0x81, 0x80, 0x40}), ArchiveError);  // 2^20 + 1
  CHECK_THROWS_AS(read({10, 3}), ArchiveError);
}

}  // namespace cuszi::test

#include "core/field/sparse_list.hpp"

#include <limits>

#include "core/base/bytes.hpp"
#include "core/base/error.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

/// About one point in `one_in`, with values of up to `bits` bits.
std::vector<SparseEntry> random_entries(Random& random, std::uint64_t points, std::uint64_t one_in,
                                        unsigned bits) {
  std::vector<SparseEntry> entries;
  for (std::uint64_t point = 0; point < points; ++point) {
    if (random.one_in(one_in)) entries.push_back({point, random.next() >> (64 - bits)});
  }
  return entries;
}

constexpr std::uint64_t block = SparseList::block_points;

}  // namespace

TEST_CASE("sparse lists come back") {
  Random random(1);
  for (const std::uint64_t points :
       {std::uint64_t{1}, std::uint64_t{500}, block - 1, block, block + 1, 3 * block + 77}) {
    for (const unsigned bits : {1U, 8U, 9U, 16U, 17U, 32U, 33U, 64U}) {
      const auto entries = random_entries(random, points, 1 + points / 400, bits);
      const auto bytes = SparseList::encode(entries, points);
      const SparseList list = SparseList::decode(bytes, points);
      REQUIRE(SparseList::encoded_count(bytes) == entries.size());
      REQUIRE(list.entries().size() == entries.size());
      for (std::size_t i = 0; i < entries.size(); ++i) {
        REQUIRE(list.entries()[i].point == entries[i].point);
        REQUIRE(list.entries()[i].value == entries[i].value);
        REQUIRE(list.find(entries[i].point) == entries[i].value);
      }
    }
  }
}

TEST_CASE("a list finds only what it has") {
  const std::vector<SparseEntry> entries{{3, 30}, {70'000, 7}};
  const SparseList list = SparseList::decode(SparseList::encode(entries, 100'000), 100'000);
  CHECK(list.find(3) == 30);
  CHECK(list.find(70'000) == 7);
  for (const std::uint64_t point : {0U, 2U, 4U, 69'999U, 99'999U}) {
    CHECK_FALSE(list.find(point).has_value());
  }
}

TEST_CASE("an empty list takes no bytes") {
  CHECK(SparseList::encode({}, 1000).empty());
  CHECK(SparseList::encoded_count({}) == 0);
  CHECK(SparseList::decode({}, 1000).entries().empty());
}

TEST_CASE("values take as few bytes as the largest needs") {
  const auto size = [](std::uint64_t value) {
    const std::vector<SparseEntry> entries{{0, 0}, {1, value}};
    return SparseList::encode(entries, 10).size();
  };
  const std::size_t fixed = 2 + 4 + 2 * 2;  // count, width; one block; two positions
  CHECK(size(0xFF) == fixed + 2);
  CHECK(size(0x100) == fixed + 4);
  CHECK(size(0x10000) == fixed + 8);
  CHECK(size(0x100000000) == fixed + 16);
}

TEST_CASE("hostile lists are refused") {
  const auto list = [](std::uint64_t count, std::uint8_t width,
                       std::initializer_list<std::uint32_t> blocks,
                       std::initializer_list<std::uint16_t> positions, std::size_t value_bytes) {
    ByteWriter out;
    out.varint(count);
    out.put(width);
    for (const std::uint32_t in_block : blocks) out.put(in_block);
    for (const std::uint16_t position : positions) out.put(position);
    for (std::size_t i = 0; i < value_bytes; ++i) out.put(std::uint8_t{1});
    return out.take();
  };
  const std::uint64_t points = block + 100;
  const auto decode = [&](const std::vector<std::byte>& bytes) {
    return SparseList::decode(bytes, points).entries().size();
  };
  CHECK(decode(list(2, 1, {1, 1}, {5, 6}, 2)) == 2);
  CHECK_THROWS_AS(decode(list(2, 3, {1, 1}, {5, 6}, 6)), ArchiveError);  // width
  CHECK_THROWS_AS(decode(list(2, 0, {1, 1}, {5, 6}, 0)), ArchiveError);
  CHECK_THROWS_AS(decode(list(2, 1, {2, 1}, {5, 6}, 2)), ArchiveError);    // too many in blocks
  CHECK_THROWS_AS(decode(list(2, 1, {0, 1}, {5, 6}, 2)), ArchiveError);    // too few
  CHECK_THROWS_AS(decode(list(2, 1, {2, 0}, {6, 6}, 2)), ArchiveError);    // twice
  CHECK_THROWS_AS(decode(list(2, 1, {2, 0}, {6, 5}, 2)), ArchiveError);    // out of order
  CHECK_THROWS_AS(decode(list(2, 1, {1, 1}, {5, 100}, 2)), ArchiveError);  // beyond the frame
  CHECK_THROWS_AS(decode(list(2, 1, {1, 1}, {5, 6}, 1)), ArchiveError);    // truncated
  CHECK_THROWS_AS(decode(list(2, 1, {1, 1}, {5, 6}, 3)), ArchiveError);    // too long
  CHECK_THROWS_AS(decode(list(2, 1, {1}, {}, 0)), ArchiveError);
  constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  CHECK_THROWS_AS(decode(list(huge, 8, {1, 1}, {5, 6}, 2)), ArchiveError);
  CHECK_THROWS_AS(decode(list(huge / 2 + 2, 2, {1, 1}, {5, 6}, 4)), ArchiveError);
}

TEST_CASE("zigzag keeps every integer and makes small magnitudes small") {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, std::int64_t{-2},
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    CHECK(unzigzag(zigzag(value)) == value);
  }
  CHECK(zigzag(0) == 0);
  CHECK(zigzag(-1) == 1);
  CHECK(zigzag(1) == 2);
  CHECK(zigzag(-128) == 255);
}

}  // namespace cuszi::test

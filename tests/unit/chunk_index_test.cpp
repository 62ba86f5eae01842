#include "core/field/chunk_index.hpp"

#include <limits>
#include <numeric>

#include "core/base/bytes.hpp"
#include "core/base/error.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

constexpr IndexKind kinds[] = {IndexKind::offset, IndexKind::length, IndexKind::hybrid};

std::vector<std::uint32_t> random_lengths(Random& random, std::size_t chunks, std::uint64_t limit) {
  std::vector<std::uint32_t> lengths(chunks);
  for (std::uint32_t& length : lengths) length = static_cast<std::uint32_t>(random.below(limit));
  return lengths;
}

std::vector<BitCount> starts_of(const std::vector<std::uint32_t>& lengths) {
  std::vector<BitCount> starts(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), BitCount{0});
  return starts;
}

BitCount total_of(const std::vector<std::uint32_t>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), BitCount{0});
}

}  // namespace

TEST_CASE("every index tells where the chunks start") {
  Random random(1);
  for (const std::size_t chunks : {2U, 3U, 31U, 32U, 33U, 64U, 65U, 500U}) {
    for (const std::uint64_t limit : {std::uint64_t{0x10000}, std::uint64_t{0xFFFFFFFF}}) {
      const auto lengths = random_lengths(random, chunks, limit);
      for (const IndexKind kind : kinds) {
        for (const std::uint32_t partition : {1U, 2U, 32U, 1000U}) {
          INFO(chunks << " chunks, kind " << static_cast<int>(kind) << ", partition " << partition);
          const auto index = encode_index(kind, partition, lengths);
          REQUIRE(decode_index(kind, partition, index, chunks, total_of(lengths)) ==
                  starts_of(lengths));
        }
      }
    }
  }
}

TEST_CASE("indexes are as large as the format says") {
  std::vector<std::uint32_t> lengths(100, 0xFFFF);
  CHECK(encode_index(IndexKind::none, 32, lengths).empty());
  CHECK(encode_index(IndexKind::offset, 32, lengths).size() == 100 * 8);
  CHECK(encode_index(IndexKind::length, 32, lengths).size() == 1 + 99 * 2);
  CHECK(encode_index(IndexKind::hybrid, 32, lengths).size() == 1 + 4 * 8 + (100 - 4) * 2);
  lengths[99] = 0x10000;
  CHECK(encode_index(IndexKind::length, 32, lengths).size() == 1 + 99 * 4);
  CHECK(encode_index(IndexKind::hybrid, 32, lengths).size() == 1 + 4 * 8 + (100 - 4) * 4);
}

TEST_CASE("one chunk needs no index") {
  const std::vector<std::uint32_t> lengths{77};
  for (const IndexKind kind : kinds) {
    CHECK(encode_index(kind, 32, lengths).empty());
    CHECK(decode_index(kind, 32, {}, 1, 77) == std::vector<BitCount>{0});
  }
  CHECK(decode_index(IndexKind::none, 32, {}, 50, 77) == std::vector<BitCount>{0});
}

TEST_CASE("an index of another size is refused") {
  Random random(2);
  const auto lengths = random_lengths(random, 70, 1000);
  for (const IndexKind kind : kinds) {
    auto index = encode_index(kind, 32, lengths);
    const auto decode = [&](Bytes bytes, std::uint64_t chunks) {
      return decode_index(kind, 32, bytes, chunks, total_of(lengths));
    };
    for (std::size_t size = 0; size < index.size(); ++size) {
      CHECK_THROWS_AS(decode(Bytes(index).first(size), 70), ArchiveError);
    }
    CHECK_THROWS_AS(decode(index, 71), ArchiveError);
    CHECK_THROWS_AS(decode(index, 69), ArchiveError);
    index.push_back(std::byte{0});
    CHECK_THROWS_AS(decode(index, 70), ArchiveError);
  }
}

TEST_CASE("starts that go back or leave the stream are refused") {
  const auto offsets = [](std::initializer_list<std::uint64_t> values) {
    ByteWriter out;
    for (const std::uint64_t value : values) out.put(value);
    return out.take();
  };
  const auto decode = [](const std::vector<std::byte>& index) {
    return decode_index(IndexKind::offset, 32, index, 3, 100);
  };
  CHECK(decode(offsets({0, 50, 100})).size() == 3);
  CHECK_THROWS_AS(decode(offsets({0, 50, 49})), ArchiveError);
  CHECK_THROWS_AS(decode(offsets({0, 50, 101})), ArchiveError);
  CHECK_THROWS_AS(decode(offsets({0, 50, std::numeric_limits<std::uint64_t>::max()})),
                  ArchiveError);

  const std::vector<std::uint32_t> lengths{60, 60, 60};
  for (const IndexKind kind : kinds) {
    CHECK_THROWS_AS(decode_index(kind, 2, encode_index(kind, 2, lengths), 3, 119), ArchiveError);
    CHECK_NOTHROW(decode_index(kind, 2, encode_index(kind, 2, lengths), 3, 120));
  }
}

TEST_CASE("lengths of a strange width are refused") {
  const std::vector<std::uint32_t> lengths{10, 20, 30};
  auto index = encode_index(IndexKind::length, 32, lengths);
  for (const unsigned width : {0U, 1U, 3U, 8U, 255U}) {
    index[0] = static_cast<std::byte>(width);
    CHECK_THROWS_AS(decode_index(IndexKind::length, 32, index, 3, 60), ArchiveError);
  }
}

}  // namespace cuszi::test

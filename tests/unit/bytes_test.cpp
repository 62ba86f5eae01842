#include "core/base/bytes.hpp"

#include "test_data/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("numbers are written little-endian") {
  ByteWriter out;
  out.put(std::uint32_t{0x01020304});
  out.put(std::uint8_t{5});
  out.put(1.0);
  CHECK(out.size() == 13);
  CHECK(out.take() == to_bytes({4, 3, 2, 1, 5, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F}));
}

TEST_CASE("varints are LEB128") {
  ByteWriter out;
  for (const std::uint64_t value : {0U, 127U, 128U, 300U}) out.varint(value);
  CHECK(out.take() == to_bytes({0, 127, 0x80, 1, 0xAC, 2}));
}

TEST_CASE("what was written is read back") {
  Random random(1);
  std::vector<std::uint64_t> values{0, ~std::uint64_t{0}};
  for (unsigned shift = 0; shift < 64; ++shift) values.push_back(random.next() >> shift);
  ByteWriter out;
  for (const std::uint64_t value : values) {
    out.varint(value);
    out.put(value);
  }
  ByteReader in(out.view(), "the test");
  for (const std::uint64_t value : values) {
    CHECK(in.varint() == value);
    CHECK(in.get<std::uint64_t>() == value);
  }
  CHECK(in.position() == out.size());
  CHECK_NOTHROW(in.expect_end());
}

TEST_CASE("a reader does not leave its bytes") {
  const auto bytes = to_bytes({1, 2, 3});
  ByteReader in(bytes, "the test");
  CHECK_THROWS_AS(in.get<std::uint32_t>(), ArchiveError);
  CHECK(in.get<std::uint16_t>() == 0x0201);
  CHECK_THROWS_AS(in.take(2), ArchiveError);
  CHECK_THROWS_AS(in.expect_end(), ArchiveError);
  CHECK(in.take(1).size() == 1);
  CHECK(in.take(0).empty());
  CHECK_THROWS_AS(in.get<std::uint8_t>(), ArchiveError);
  CHECK_THROWS_AS(in.varint(), ArchiveError);
}

TEST_CASE("varints that end too early or hold more than 64 bits are refused") {
  const auto unfinished = to_bytes({0x80, 0x80});
  CHECK_THROWS_AS(ByteReader(unfinished, "the test").varint(), ArchiveError);
  std::vector<std::byte> bytes(9, std::byte{0xFF});
  bytes.push_back(std::byte{1});
  CHECK(ByteReader(bytes, "the test").varint() == ~std::uint64_t{0});
  bytes.back() = std::byte{2};
  CHECK_THROWS_AS(ByteReader(bytes, "the test").varint(), ArchiveError);
  bytes.back() = std::byte{0x81};
  bytes.push_back(std::byte{0});
  CHECK_THROWS_AS(ByteReader(bytes, "the test").varint(), ArchiveError);
}

}  // namespace cuszi::test

#include "core/base/varint.hpp"

#include <optional>

#include "core/base/bytes.hpp"
#include "core/base/error.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

std::optional<std::uint64_t> read_forwards(const std::vector<std::byte>& bytes) {
  ByteReader in(bytes, "a number");
  try {
    const std::uint64_t number = in.varint();
    in.expect_end();
    return number;
  } catch (const ArchiveError&) {
    return std::nullopt;
  }
}

std::optional<std::uint64_t> read_backwards(const std::vector<std::byte>& bytes) {
  std::uint64_t number = 0;
  if (!read_varint_before(bytes.data(), bytes.size() - 1, number)) return std::nullopt;
  return number;
}

}  // namespace

TEST_CASE("numbers of all lengths are read from either end") {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    const std::uint64_t power = bits == 64 ? 0 : std::uint64_t{1} << bits;
    for (const std::uint64_t number : {power - 1, power}) {
      std::vector<std::byte> bytes(varint_bytes(number));
      write_varint(number, bytes.data());
      INFO(number);
      CHECK(read_forwards(bytes) == number);
      CHECK(read_backwards(bytes) == number);
      bytes.insert(bytes.begin(), std::byte{0x7F});  // the end of a number before
      CHECK(read_backwards(bytes) == number);
    }
  }
}

TEST_CASE("numbers that do not fit 64 bits are refused from either end") {
  Random random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes(8 + random.below(5));
    for (std::byte& byte : bytes) {
      const std::uint64_t low = random.one_in(3) ? random.below(128) : 0;
      byte = static_cast<std::byte>(low | 0x80);
    }
    bytes.back() = static_cast<std::byte>(random.below(3));
    CHECK(read_backwards(bytes) == read_forwards(bytes));
  }
}

}  // namespace cuszi::test

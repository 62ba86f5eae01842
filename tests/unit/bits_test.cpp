#include "core/base/bits.hpp"

#include <string>

#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

struct BitField {
  std::uint64_t value;
  int bits;  ///< -1: in unary
};

std::string as_text(const BitField& field) {
  if (field.bits < 0) return std::string(field.value, '1') + '0';
  std::string text;
  for (int i = field.bits; i-- > 0;) text += (field.value >> i & 1) != 0 ? '1' : '0';
  return text;
}

std::string as_text(Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += as_text({static_cast<std::uint64_t>(byte), 8});
  return text;
}

}  // namespace

TEST_CASE("fields of bits follow each other, the first bit in the highest place", "[core]") {
  Random random(1975);
  for (int run = 0; run < 200; ++run) {
    CAPTURE(run);
    std::vector<BitField> fields(random.below(40));
    std::string expected;
    BitWriter out;
    for (BitField& field : fields) {
      field.bits = static_cast<int>(random.below(66)) - 1;
      if (field.bits < 0) {
        field.value = random.below(150);
        put_unary(field.value, out);
      } else {
        field.value = field.bits == 0 ? 0 : random.next() >> (64 - field.bits);
        out.put(field.value, field.bits);
      }
      expected += as_text(field);
    }
    const std::vector<std::byte> bytes = out.take();
    REQUIRE(bytes.size() == ceil_div(expected.size(), 8));
    expected.resize(8 * bytes.size(), '0');
    CHECK(as_text(bytes) == expected);

    BitReader in(bytes, "fields");
    for (const BitField& field : fields) {
      CHECK((field.bits < 0 ? get_unary(in, 150) : in.get(field.bits)) == field.value);
    }
    CHECK(in.bytes_read() == bytes.size());
    in.expect_end();
  }
}

TEST_CASE("bits beyond the end are an error", "[core]") {
  const std::vector<std::byte> ones(9, std::byte{0xFF});
  BitReader in(ones, "fields");
  in.get(64);
  CHECK_THROWS_AS(in.get(9), ArchiveError);
  CHECK(in.get(8) == 0xFF);
  CHECK_THROWS_AS(in.get(1), ArchiveError);
  BitReader unary(ones, "fields");
  CHECK_THROWS_AS(get_unary(unary, 200), ArchiveError);
  BitReader large(ones, "fields");
  CHECK_THROWS_AS(get_unary(large, 70), ArchiveError);
  BitReader none({}, "fields");
  CHECK(none.get(0) == 0);
  CHECK_THROWS_AS(none.get(1), ArchiveError);
}

TEST_CASE("ones are read up to a limit, and the zero behind fewer", "[core]") {
  const std::vector bytes{std::byte{0b1101'1111}, std::byte{0b1000'0011}};
  BitReader in(bytes, "fields");
  CHECK(in.get_ones_up_to(4) == 2);
  CHECK(in.get_ones_up_to(4) == 4);
  CHECK(in.get_ones_up_to(4) == 2);
  CHECK(in.get(4) == 0);
  CHECK(in.get_ones_up_to(2) == 2);
  CHECK_THROWS_AS(in.get_ones_up_to(4), ArchiveError);  // no zero is there
}

}  // namespace cuszi::test

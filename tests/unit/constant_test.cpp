#include "core/base/error.hpp"
#include "core/base/lossless.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("values have the bits of their type") {
  CHECK(bits_of(1, DType::f32) == 0x3F800000);
  CHECK(bits_of(1, DType::f64) == 0x3FF0000000000000);
  CHECK(bits_of(-0.0, DType::f32) == 0x80000000);
  CHECK(bits_of(-0.0, DType::f64) == 0x8000000000000000);
}

TEST_CASE("the one value of a frame is repeated as often as it takes") {
  const std::uint64_t bits = 0x0807060504030201;
  CHECK(encode_constant(bits, DType::f64, 0) == to_bytes({1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(encode_constant(bits, DType::f32, 0) == to_bytes({1, 2, 3, 4}));
  CHECK(encode_constant(bits, DType::f32, 4) == to_bytes({1, 2, 3, 4}));
  CHECK(encode_constant(bits, DType::f32, 5) == to_bytes({1, 2, 3, 4, 1, 2, 3, 4}));
  for (const ByteCount least : {0U, 8U, 63U, 4032U}) {
    CHECK(decode_constant(encode_constant(bits, DType::f64, least), DType::f64) == bits);
    CHECK(decode_constant(encode_constant(bits, DType::f32, least), DType::f32) == 0x04030201);
  }
}

TEST_CASE("what is not one value is refused") {
  CHECK_THROWS_AS(decode_constant({}, DType::f32), ArchiveError);
  CHECK_THROWS_AS(decode_constant(to_bytes({1, 2, 3}), DType::f32), ArchiveError);
  CHECK_THROWS_AS(decode_constant(to_bytes({1, 2, 3, 4, 1, 2, 3}), DType::f32), ArchiveError);
  CHECK_THROWS_AS(decode_constant(to_bytes({1, 2, 3, 4}), DType::f64), ArchiveError);
  CHECK_THROWS_AS(decode_constant(to_bytes({1, 2, 3, 4, 1, 2, 3, 5}), DType::f32), ArchiveError);
}

}  // namespace cuszi::test

#include "core/coder.hpp"

#include "core/error.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("a coder is read as what it was written") {
  ByteWriter out;
  write_coder(HuffmanParams{256, IndexKind::length, 7}, out);
  ByteReader in(out.view(), "the test");
  const CoderParams params = read_coder(in);
  CHECK_NOTHROW(in.expect_end());
  CHECK(name_of(params) == "huffman");
  CHECK(std::get<HuffmanParams>(params).chunk == 256);
}

TEST_CASE("an unknown coder is refused") {
  const auto bytes = to_bytes({1, 10, 3, 32});
  ByteReader in(bytes, "the test");
  CHECK_THROWS_AS(read_coder(in), ArchiveError);
}

}  // namespace cuszi::test

#include "core/coders/coder.hpp"

#include "core/archive/predictor.hpp"
#include "core/base/error.hpp"
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

TEST_CASE("ans is read as what it was written, and not with a centre of 0") {
  ByteWriter out;
  write_coder(AnsParams{300, IndexKind::offset, 9}, out);
  ByteReader in(out.view(), "the test");
  const auto params = std::get<AnsParams>(read_coder(in));
  CHECK(params.centre == 300);
  CHECK(params.index == IndexKind::offset);
  CHECK(params.partition == 9);
  const auto zero = to_bytes({1, 0, 3, 32});
  ByteReader bad(zero, "the test");
  CHECK_THROWS_AS(read_coder(bad), ArchiveError);
}

TEST_CASE("no coder takes one byte and goes with predictors that code themselves alone") {
  ByteWriter out;
  write_coder(NoCoderParams{}, out);
  CHECK(out.size() == 1);
  ByteReader in(out.view(), "the test");
  CHECK(id_of(read_coder(in)) == CoderId::none);
  CHECK(coder_for(PredictorId::lorenzo, CoderId::ans) == CoderId::ans);
  CHECK_THROWS_AS(coder_for(PredictorId::lorenzo, CoderId::none), UsageError);
}

TEST_CASE("an unknown coder is refused") {
  const auto bytes = to_bytes({3, 10, 3, 32});
  ByteReader in(bytes, "the test");
  CHECK_THROWS_AS(read_coder(in), ArchiveError);
}

}  // namespace cuszi::test

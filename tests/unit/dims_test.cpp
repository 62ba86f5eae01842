#include "core/base/dims.hpp"

#include "core/base/error.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("dims are read slowest first and written back") {
  const Dims dims = Dims::parse("100x500x40");
  CHECK(dims.rank() == 3);
  CHECK(dims[0] == 100);
  CHECK(dims[1] == 500);
  CHECK(dims[2] == 40);
  CHECK(dims.count() == 2'000'000);
  CHECK(dims.to_string() == "100x500x40");
  CHECK(Dims::parse("7") == Dims{7});
  CHECK(Dims::parse("1x2x3x4") == Dims{1, 2, 3, 4});
}

TEST_CASE("dims that are none are refused") {
  for (const char* text :
       {"", "x", "0", "3x0", "x3", "3x", "3xx4", "3X4", "-3", "+3", " 3", "3 ", "1.5", "1x2x3x4x5",
        "18446744073709551616", "4294967296x4294967296", "1152921504606846976"}) {
    INFO("'" << text << "'");
    CHECK_THROWS_AS(Dims::parse(text), UsageError);
  }
  CHECK_THROWS_AS((Dims{2, 0}), UsageError);
  CHECK_THROWS_AS(Dims({}), UsageError);
}

TEST_CASE("dims hold up to 2^60 - 1 values") {
  CHECK(Dims::parse("1152921504606846975").count() == (std::uint64_t{1} << 60) - 1);
  CHECK(Dims::parse("1x536870912x2147483647").count() == 536870912 * std::uint64_t{2147483647});
}

TEST_CASE("squeezing drops extents of 1") {
  CHECK((Dims{1, 5, 1, 7}).squeezed() == Dims{5, 7});
  CHECK((Dims{1, 1}).squeezed() == Dims{1});
  CHECK((Dims{2, 3}).squeezed() == Dims{2, 3});
}

TEST_CASE("predictors see three dimensions") {
  CHECK((Dims{9}).as_3d() == Extents3{1, 1, 9});
  CHECK((Dims{8, 9}).as_3d() == Extents3{1, 8, 9});
  CHECK((Dims{7, 8, 9}).as_3d() == Extents3{7, 8, 9});
  CHECK((Dims{6, 7, 8, 9}).as_3d() == Extents3{42, 8, 9});
  CHECK((Dims{6, 1, 8, 9}).as_3d() == Extents3{6, 8, 9});
  CHECK((Dims{1, 1, 1, 1}).as_3d() == Extents3{1, 1, 1});
}

TEST_CASE("the rank counts extents of more than 1") {
  CHECK(rank_of({1, 1, 1}) == 1);
  CHECK(rank_of({1, 1, 5}) == 1);
  CHECK(rank_of({5, 1, 5}) == 2);
  CHECK(rank_of({5, 5, 5}) == 3);
}

}  // namespace cuszi::test

#include "core/sample.hpp"

#include <set>

#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("points and coordinates are two names of one place") {
  const Extents3 extents{3, 5, 7};
  CHECK(coordinates_of(0, extents) == Extents3{0, 0, 0});
  CHECK(coordinates_of(36, extents) == Extents3{1, 0, 1});
  for (std::uint64_t point = 0; point < count_of(extents); ++point) {
    CHECK(point_at(coordinates_of(point, extents), extents) == point);
  }
}

TEST_CASE("sampled points are spread over the field") {
  const std::uint64_t points = 1 << 20;
  std::set<std::uint64_t> sixteenths;
  std::set<std::uint64_t> columns;
  for (std::uint64_t k = 0; k < 200; ++k) {
    const std::uint64_t point = sample_point(k, points);
    REQUIRE(point < points);
    sixteenths.insert(point * 16 / points);
    columns.insert(point % 16);
  }
  CHECK(sixteenths.size() == 16);
  CHECK(columns.size() == 16);
  CHECK(sample_point(5, 1) == 0);
}

}  // namespace cuszi::test

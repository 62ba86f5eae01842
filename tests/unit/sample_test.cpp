#include "core/field/sample.hpp"

#include <set>

#include "core/tuning/fit_sample.hpp"
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

TEST_CASE("samples are found without a division") {
  for (const std::uint64_t points :
       {std::uint64_t{100}, sample_points + 1, std::uint64_t{1} << 24, (std::uint64_t{1} << 24) - 1,
        std::uint64_t{123456789}, (std::uint64_t{1} << 40) + 1}) {
    const MagnitudeSample sample(points);
    for (std::uint64_t k = 0; k < sample_size(points); ++k)
      REQUIRE_EACH(sample[k] == magnitude_sample(k, points));
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

TEST_CASE("a fit samples one point of each of as many equal parts") {
  const auto [wanted, all] = GENERATE(table<std::uint64_t, std::uint64_t>({{1, 1},
                                                                           {1, 1000},
                                                                           {7, 10},
                                                                           {1000, 1000},
                                                                           {1000, 1999},
                                                                           {2048, 8191},
                                                                           {8192, 100000},
                                                                           {8192, 1ULL << 50}}));
  std::set<std::uint64_t> columns;
  for (std::uint64_t k = 0; k < wanted; ++k) {
    const std::uint64_t point = sampled_point(k, wanted, all);
    REQUIRE(point >= k * all / wanted);
    REQUIRE(point < (k + 1) * all / wanted);
    columns.insert(point % 16);
  }
  if (wanted >= 1000) CHECK(columns.size() == 16);
}

}  // namespace cuszi::test

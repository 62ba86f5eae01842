#include "cpu_ref/field/scan.hpp"

#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

FieldScan scan(const std::vector<float>& values, const FillValues& fills = {}) {
  const Extents3 extents{1, 1, values.size()};
  return cpu::scan_frame<float>(extents, values, fills, LorenzoParams::draft({}, extents));
}

}  // namespace

TEST_CASE("the range is that of the values that are there") {
  FillValues fills;
  fills.add(1e20);
  const FieldScan found = scan({nan, 3, 1e20F, -2, infinite, -infinite}, fills);
  CHECK(found.min == -2);
  CHECK(found.max == 3);
  CHECK(found.missing == 4);
}

TEST_CASE("a range has no negative zero, whatever the order of the values") {
  CHECK_FALSE(std::signbit(scan({-0.0F, 0.0F}).min));
  CHECK_FALSE(std::signbit(scan({0.0F, -0.0F}).max));
}

TEST_CASE("a field of nothing but missing values has no range") {
  const FieldScan found = scan({nan, infinite});
  CHECK(found.missing == 2);
  CHECK(found.min == 0);
  CHECK(found.max == 0);
}

TEST_CASE("the range is found in every block") {
  std::vector<float> values(300'000, 0);
  values[70'000] = -5;
  values[299'999] = 5;
  values[200'000] = nan;
  const FieldScan found = scan(values);
  CHECK(found.min == -5);
  CHECK(found.max == 5);
  CHECK(found.missing == 1);
}

TEST_CASE("the largest magnitude is a sample's, and of few points that of all") {
  const auto sampled = [](const std::vector<float>& values, const FillValues& fills = {}) {
    const Extents3 extents{1, 1, values.size()};
    return cpu::scan_frame<float>(extents, values, fills, TilesParams::draft({}, extents)).sampled;
  };
  FillValues fills;
  fills.add(1e20);
  CHECK(sampled({1, -7, nan, 1e20F, 3, infinite}, fills) == 7);
  CHECK(sampled({nan, infinite}) == 0);
  std::vector<float> few(sample_points, 1);
  few[5000] = -2;
  CHECK(sampled(few) == 2);
  std::vector<float> many(100 * sample_points, 1);
  const std::uint64_t seen = sample_point(0, many.size());
  many[seen] = 3;
  CHECK(sampled(many) == 3);
}

TEST_CASE("a mask has the missing points and their bits") {
  const std::vector<float> values{1, nan, 2, infinite, -0.0F};
  FillValues fills;
  fills.add(0);
  const Mask mask = cpu::build_mask<float>(values, values, fills, 3);
  CHECK(mask.count == 3);
  REQUIRE(mask.words.size() == 1);
  CHECK(mask.words[0] == 0b11010);
  REQUIRE(mask.values.size() == 12);
  CHECK(mask.values[11] == std::byte{0x80});
  CHECK_FALSE(mask(0));
  CHECK(mask(4));
  CHECK(cpu::build_mask<float>(values, values, {}, 0).words.empty());
}

}  // namespace cuszi::test

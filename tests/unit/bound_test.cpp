#include "core/field/bound.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/field/asked_bounds.hpp"
#include "core/field/local_bounds.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/exact.hpp"

namespace cuszi::test {

namespace {

double random_number(Random& random, int lowest, int highest) {
  const int exponent =
      lowest + static_cast<int>(random.below(static_cast<std::uint64_t>(highest - lowest)));
  return std::ldexp(1 + random.uniform(), exponent);
}

/// Terms of a double so short that products of two are exact. The bits are cut off, since g++ 12 at
/// -O3 gets a detour through float wrong here.
std::array<double, 3> parts_of(double x) {
  const auto upper = [](double y) {
    constexpr std::uint64_t lower_bits = (std::uint64_t{1} << 29) - 1;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(y) & ~lower_bits);
  };
  const double first = upper(x);
  const double second = upper(x - first);
  return {first, second, x - first - second};
}

/// The sign of bound - share x (max - min), exactly.
int sign_of_excess(double bound, double share, double min, double max) {
  std::vector<double> terms{bound};
  for (const double s : parts_of(share)) {
    for (const double x : parts_of(max)) terms.push_back(-s * x);
    for (const double x : parts_of(min)) terms.push_back(s * x);
  }
  return sign_of_sum(terms);
}

}  // namespace

TEST_CASE("a share of a range never exceeds the exact product", "[unsanitized]") {
  Random random(11);
  for (int i = 0; i < 20000; ++i) {
    const double share = random_number(random, -30, -1);
    const double max = random_number(random, -20, 20);
    const double width = random_number(random, -20, 20);
    const double min = random.one_in(2) ? -width : max - width;
    const double bound = share_of_range(share, min, max);
    INFO(share << " of " << min << " to " << max << ": " << bound);
    REQUIRE(sign_of_excess(bound, share, min, max) <= 0);
    const double more = bound * (1 + 0x1p-50);
    REQUIRE(sign_of_excess(more, share, min, max) > 0);
  }
}

TEST_CASE("a share of a range that under- or overflows") {
  constexpr double largest = std::numeric_limits<double>::max();
  constexpr double least = std::numeric_limits<double>::denorm_min();
  CHECK(share_of_range(0.5, -largest, largest) == 0);
  CHECK(share_of_range(0.5, 0, largest) == largest / 2);
  CHECK(share_of_range(0.75, 0, least) == 0);
  CHECK(share_of_range(0.75, 0, 2 * least) == least);
  CHECK(share_of_range(0.75, 0, 4 * least) == 3 * least);
  CHECK(share_of_range(1e-3, 1, 1) == 0);
  CHECK(share_of_range(0, 0, 1) == 0);
}

TEST_CASE("a bound in f64 is never above itself as f32, and the next float is") {
  Random random(12);
  for (int i = 0; i < 20000; ++i) {
    const double bound = random_number(random, -160, 130);
    const float below = float_below(bound);
    INFO(bound << " as f32: " << below);
    REQUIRE(sign_of_sum({below, -bound}) <= 0);
    const float above = std::nextafter(below, HUGE_VALF);
    REQUIRE((std::isinf(above) || sign_of_sum({above, -bound}) > 0));
  }
  CHECK(float_below(0) == 0);
  CHECK(float_below(0.25) == 0.25F);
  CHECK(float_below(1e-300) == 0);
  CHECK(float_below(-1e-300) < 0);
  CHECK(float_below(1e300) == std::numeric_limits<float>::max());
  CHECK(std::isinf(float_below(HUGE_VAL)));
  CHECK(std::isnan(float_below(std::numeric_limits<double>::quiet_NaN())));
}

TEST_CASE("bounds of blocks that are rounded to parts of octaves are never above what is asked") {
  Random random(13);
  const Dims dims{32, 64, 64};
  const std::uint64_t blocks = BlockGrid::of(dims.as_3d()).count();
  for (int i = 0; i < 200; ++i) {
    const double largest = random_number(random, -30, 30);
    AskedBounds asked;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      asked.of_blocks.push_back(std::ldexp(largest, -40) + largest * random.uniform());
    }
    FieldScan scan;
    scan.min = -largest;
    scan.max = largest;
    const BoundPlan plan = plan_bounds(asked, 2 * largest, scan, {DType::f64, dims}, half_step_for);
    for (std::uint64_t block = 0; plan.local && block < blocks; ++block) {
      const std::uint8_t at = plan.local->blocks[block];
      const double used = at == 0 ? plan.bound : plan.local->bounds[at - 1U].bound;
      REQUIRE(sign_of_sum({used, -asked.of_blocks[block]}) <= 0);
    }
  }
}

}  // namespace cuszi::test

#include "core/transform/transform.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/exact.hpp"

namespace cuszi {

namespace {

template <class T>
T any_finite(std::mt19937_64& random) {
  for (;;) {
    const auto value = std::bit_cast<T>(static_cast<BitsOf<T>>(random()));
    if (std::isfinite(value)) return value;
  }
}

}  // namespace

TEST_CASE("logarithms and powers are near those of the library", "[transform]") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const double x = std::fabs(any_finite<double>(random));
    if (x == 0) continue;
    const long double log = std::log2(static_cast<long double>(x));
    CHECK(std::fabs(log2_of_value<double>(x) - log) <= 0x1p-42L);
    CHECK(std::fabs(log2_of_value<float>(x) - log) <= 0x1p-31L);
    const auto y = static_cast<double>(log);
    if (y < -1021 || y > 1023.9) continue;
    const long double power = std::exp2(static_cast<long double>(y));
    CHECK(std::fabs(exp2_of_value<double>(y) / power - 1) <= 0x1p-51L);
    CHECK(std::fabs(exp2_of_value<float>(y) / power - 1) <= 0x1p-33L);
  }
  for (int exponent = -1074; exponent < 1024; ++exponent) {
    CHECK(log2_of_value<double>(std::ldexp(1.0, exponent)) == exponent);
    CHECK(exp2_of_value<double>(exponent) == std::ldexp(1.0, exponent));
  }
}

TEST_CASE("powers never decrease", "[transform]") {
  std::mt19937_64 random(2);
  const auto check = [](double y) {
    const double next = std::nextafter(y, HUGE_VAL);
    CHECK(exp2_of_value<double>(y) <= exp2_of_value<double>(next));
    CHECK(exp2_of_value<float>(y) <= exp2_of_value<float>(next));
  };
  for (int i = 0; i < 200000; ++i) {
    check(std::ldexp(static_cast<double>(random()), -64) * 2200 - 1100);
  }
  for (int part = -1100 * 32; part < 1100 * 32; ++part) {  // where one part ends
    double y = part / 32.0;
    for (int i = 0; i < 4; ++i) y = std::nextafter(y, -HUGE_VAL);
    for (int i = 0; i < 8; ++i, y = std::nextafter(y, HUGE_VAL)) check(y);
  }
}

TEST_CASE("a share of a value is tested exactly", "[transform]") {
  CHECK(within_share(2, 2.5, 0.25));
  CHECK_FALSE(within_share(2, std::nextafter(2.5, 3), 0.25));
  CHECK(within_share(-2, -1.5, 0.25));
  CHECK_FALSE(within_share(-2, std::nextafter(-1.5, 0), 0.25));
  CHECK(within_share(0.0, 0.0, 0.1));
  CHECK_FALSE(within_share(0.0, -0.0, 0.1));
  CHECK_FALSE(within_share(5e-324, 0, 0.9));
  CHECK(within_share(4 * 5e-324, 5 * 5e-324, 0.25));
  CHECK_FALSE(within_share(4 * 5e-324, 5 * 5e-324, std::nextafter(0.25, 0)));
  const double most = std::numeric_limits<double>::max();
  CHECK(within_share(most, most, 0));
  CHECK(within_share(most, most / 2, 0.5));
  CHECK_FALSE(within_share(most, std::nextafter(most / 2, 0), 0.5));
  CHECK_FALSE(within_share(1, std::numeric_limits<double>::infinity(), 0.5));
}

TEST_CASE("a share is tested as in integers of any length", "[transform]") {
  std::mt19937_64 random(3);
  int within = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = any_finite<double>(random);
    const double share = std::ldexp(static_cast<double>(random() | 1), -64 - i % 50);
    if (share >= 1) continue;
    double restored = x * (i % 2 == 0 ? 1 + share : 1 - share);
    for (int step = 0; step < 2; ++step) restored = std::nextafter(restored, -HUGE_VAL);
    for (int step = 0; step < 5; ++step, restored = std::nextafter(restored, HUGE_VAL)) {
      if (!std::isfinite(restored)) continue;
      const bool expected = test::differ_by_at_most_share(x, restored, share);
      within += expected ? 1 : 0;
      INFO(x << ' ' << restored << ' ' << share);
      REQUIRE(within_share(x, restored, share) == expected);
    }
  }
  CHECK(within > 100000);
}

}  // namespace cuszi

#include "core/transform/transform.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/exact.hpp"
#include "tests/support/sanitized.hpp"

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

TEST_CASE("logarithms of floats err as little as is counted on, and never decrease",
          "[transform][unsanitized]") {
  constexpr double most = 0x1.f2p-24;
  constexpr std::uint32_t first = 0x3F800000;  // 1
  float before = -1;
  for (std::uint32_t i = 0; i < 1U << 23; ++i) {
    const auto x = std::bit_cast<float>(first + i);
    const float log = log2_of_normal(x, 0);
    if (std::fabs(log - std::log2(static_cast<double>(x))) > most || log < before) {
      FAIL("log2 of " << x << " is " << log << " after " << before);
    }
    before = log;
  }
  CHECK(before < 1);
  for (int exponent = -126; exponent < 128; ++exponent) {
    const float x = std::ldexp(1.0F, exponent);
    CHECK(log2_of_normal(x, 0) == static_cast<float>(exponent));
    CHECK(log2_of_normal(-x, 5) == static_cast<float>(exponent - 5));
    CHECK(LogTransform{3}.forward(x) == static_cast<float>(exponent - 3));
  }
  CHECK(LogTransform{}.forward(0x1p-149F) == -149);
  for (const float strange : {0.0F, -0.0F, 0x1p-127F}) CHECK(log2_of_normal(strange, 0) <= -126);
  for (const float strange : {HUGE_VALF, -HUGE_VALF, std::nanf("")}) {
    CHECK(log2_of_normal(strange, 0) >= 128);
  }
}

TEST_CASE("powers of floats err as little as is counted on, and never decrease",
          "[transform][unsanitized]") {
  constexpr double most = 0x1.9fp-24;
  float before = 0;
  for (std::uint32_t i = 0; i <= 1U << 25; ++i) {  // all distances from whole numbers
    const float y = std::ldexp(static_cast<float>(i), -25);
    const float power = LogTransform{}.inverse_normal(y);
    if (std::fabs(power / std::exp2(static_cast<double>(y)) - 1) > most || power < before) {
      FAIL("2^" << y << " is " << power << " after " << before);
    }
    before = power;
  }
  CHECK(before == 2);
  std::mt19937_64 random(7);
  const LogTransform log{-3};
  for (int i = 0; i < 1000000; ++i) {
    const auto y = static_cast<float>(std::ldexp(static_cast<double>(random()), -63) - 1) * 124;
    const float next = std::nextafter(y, HUGE_VALF);
    const float power = log.inverse(y);
    const double exact = std::exp2(static_cast<double>(y) - 3);
    if (exact > 0x1p-126) {
      REQUIRE(power == log.inverse_normal(y));
      REQUIRE(std::fabs(power / exact - 1) <= most);
    }
    REQUIRE(power <= log.inverse(next));
  }
  CHECK(LogTransform{}.inverse(-149.0F) == 0x1p-149F);
  CHECK(LogTransform{}.inverse(-500.0F) == 0);
  CHECK(LogTransform{}.inverse(500.0F) == std::numeric_limits<float>::max());
  CHECK(LogTransform{32767}.inverse(HUGE_VALF) == std::numeric_limits<float>::max());
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

TEST_CASE("the larger and the smaller of two bounds are tested exactly", "[transform]") {
  const ValueBound either(ValueBound::Kind::either, 0.5, 0.25);
  const ValueBound both(ValueBound::Kind::both, 0.5, 0.25);
  CHECK(either.holds(1, 1.5));
  CHECK_FALSE(either.holds(1, std::nextafter(1.5, 2)));
  CHECK(either.holds(4, 5));
  CHECK_FALSE(either.holds(4, std::nextafter(5.0, 6)));
  CHECK(either.holds(0, -0.5));
  CHECK(both.holds(1, 1.25));
  CHECK_FALSE(both.holds(1, std::nextafter(1.25, 2)));
  CHECK(both.holds(4, 4.5));
  CHECK_FALSE(both.holds(4, std::nextafter(4.5, 5)));
  CHECK_FALSE(both.holds(0, 0.5));
  CHECK(both.holds(0, 0));
  CHECK(either.part_of(0.5, 1) == 1);
  CHECK(either.part_of(1, 8) == 0.5);
  CHECK(both.part_of(0.25, 1) == 1);
  CHECK(both.part_of(0.25, 8) == 0.5);
}

TEST_CASE("one of two bounds decides alone where it does for all values", "[transform]") {
  using Kind = ValueBound::Kind;
  const ValueBound either(Kind::either, 1, 0.5);
  const ValueBound both(Kind::both, 1, 0.5);
  CHECK(either.within(-1, 1.5).kind == Kind::absolute);
  CHECK(either.within(4, 9).kind == Kind::share);
  CHECK(either.within(-9, -4).kind == Kind::share);
  CHECK(either.within(1, 9).kind == Kind::either);
  CHECK(either.within(-9, 9).kind == Kind::either);
  CHECK(both.within(-1, 1.5).kind == Kind::share);
  CHECK(both.within(4, 9).kind == Kind::absolute);
  CHECK(both.within(4, 9).bound == 1);
  CHECK(both.within(1, 9).kind == Kind::both);
  CHECK(ValueBound::of_share(0.5).within(1, 9).kind == Kind::share);
}

namespace {

bool keeps_to(const ValueBound& bound, double x, double restored) {
  using Kind = ValueBound::Kind;
  const bool absolutely = test::differ_by_at_most(x, restored, bound.bound);
  const bool relatively = test::differ_by_at_most_share(x, restored, bound.share);
  if (bound.kind == Kind::share) return relatively;
  return bound.kind == Kind::either ? absolutely || relatively : absolutely && relatively;
}

/// What stands at the ends of what a predictor may make of values with exponents around `exponent`
/// keeps to the bound. Returns how many values are not kept.
template <class T>
int check_ends(const ValueBound& bound, int exponent, bool quick, std::mt19937_64& random) {
  std::vector<T> values;
  for (int i = 0; i < 2000; ++i) {
    const double part = std::ldexp(static_cast<double>(random()), -63) - 1;
    values.push_back(static_cast<T>(std::ldexp(part, exponent + i % 17 - 8)));
  }
  MagnitudeRange sample;
  for (int i = 0; i < 500; ++i) {
    const T value = values[static_cast<std::size_t>(i)];
    if (value != 0) sample.include(static_cast<double>(magnitude_of(value)));
  }
  const TransformChoice choice = choose_transform(bound, dtype_of<T>, sample, quick);
  return std::visit(
      [&]<class Params>(const Params& params) {
        const PointTransform<T, Params> transform(params, choice, bound, {}, {});
        int coded = 0;
        for (const T x : values) {
          const Transformed<T> point = transform(x);
          if (std::isnan(point.value)) continue;
          ++coded;
          for (const double step : {-choice.bound, choice.bound}) {
            auto y = static_cast<T>(static_cast<double>(point.value) + step);
            const double away = static_cast<double>(y) - static_cast<double>(point.value);
            if (std::fabs(away) > choice.bound) y = std::nextafter(y, point.value);
            const T restored = restored_from(params, y, point.is_negative);
            INFO(params.name << ' ' << name_of(dtype_of<T>) << " x " << x << " restored "
                             << restored << " bound " << bound.bound << " share " << bound.share);
            REQUIRE(keeps_to(bound, static_cast<double>(x), static_cast<double>(restored)));
          }
        }
        return coded;
      },
      choice.params);
}

template <class T>
void check_all_ends(std::initializer_list<int> exponents) {
  using Kind = ValueBound::Kind;
  std::mt19937_64 random(4);
  for (const int exponent : exponents) {
    for (const double share : {0.9, 0.3, 1e-2, 1e-4}) {
      INFO("exponent " << exponent);
      const double bound = std::ldexp(share, exponent);
      for (const bool quick : {false, true}) {
        CHECK(check_ends<T>(ValueBound::of_share(share), exponent, quick, random) > 1000);
      }
      CHECK(check_ends<T>({Kind::either, bound, share}, exponent, false, random) > 1000);
      CHECK(check_ends<T>({Kind::both, bound, share}, exponent, false, random) > 1000);
    }
  }
}

}  // namespace

TEST_CASE("what a predictor makes of transformed values keeps to the bound",
          "[transform][unsanitized]") {
  check_all_ends<float>({0, 110});
  check_all_ends<double>({0, 1010});
  if (test::sanitized) return;
  check_all_ends<float>({60, -60, -110});
  check_all_ends<double>({60, -60, 900, -900});
}

TEST_CASE("a knee that has no inverse is refused", "[transform]") {
  for (const double knee : {0.0, -1.0, 1e-310, 5e-324, HUGE_VAL, std::nan("")}) {
    ByteWriter out;
    out.put(TransformId::symlog);
    out.put(knee);
    const std::vector<std::byte> bytes = out.take();
    ByteReader in(bytes, "a transform");
    CHECK_THROWS_AS(read_transform(in), ArchiveError);
  }
}

TEST_CASE("a share is tested as in integers of any length", "[transform][unsanitized]") {
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

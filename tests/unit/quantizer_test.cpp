#include "core/field/quantizer.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "test_data/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/exact.hpp"

namespace cuszi::test {

namespace {

/// A double of any magnitude within 2^-span .. 2^span.
double any_double(Random& random, int span) {
  const int exponent = static_cast<int>(random.below(static_cast<std::uint64_t>(2 * span))) - span;
  const double magnitude = std::ldexp(0.5 + random.uniform() / 2, exponent);
  return random.one_in(2) ? magnitude : -magnitude;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a bound is kept or not without rounding") {
  CHECK(within_bound(1, 0.5, 0.5));
  CHECK_FALSE(within_bound(1, 0.5, 0.4999999));
  CHECK(within_bound(3, 3, 0));
  CHECK_FALSE(within_bound(3, std::nextafter(3.0, 4.0), 0));
  CHECK(within_bound(0.0, -0.0, 0));
  CHECK_FALSE(within_bound(1, std::numeric_limits<double>::quiet_NaN(), 1));
  CHECK_FALSE(within_bound(1, infinity, 1e300));
  CHECK_FALSE(
      within_bound(std::numeric_limits<double>::max(), -std::numeric_limits<double>::max(), 1e308));
}

TEST_CASE("differences that round to the bound are told apart") {
  const double tiny = 0x1p-80;
  // 1 + tiny - 0 rounds to 1.
  CHECK(sign_of_sum({1, tiny, -1}) == 1);
  CHECK_FALSE(within_bound(1, -tiny, 1));
  CHECK(within_bound(1, tiny, 1));
  CHECK_FALSE(within_bound(-1, tiny, 1));
  CHECK(within_bound(-1, -tiny, 1));
  CHECK_FALSE(within_bound(-tiny, 1, 1));
  CHECK(within_bound(tiny, 1, 1));
}

TEST_CASE("the strict bound agrees with exact arithmetic", "[unsanitized]") {
  Random random(1);
  int at_equality = 0;
  for (int i = 0; i < 200'000; ++i) {
    const int span = random.pick({2, 60, 500});
    const double original = any_double(random, span);
    const double restored =
        random.one_in(2) ? any_double(random, span) : original + any_double(random, span);
    const double bound =
        random.one_in(4) ? std::fabs(any_double(random, span)) : std::fabs(original - restored);
    at_equality += bound == std::fabs(original - restored) ? 1 : 0;
    INFO(std::hexfloat << original << ' ' << restored << ' ' << bound);
    REQUIRE(within_bound(original, restored, bound) ==
            differ_by_at_most(original, restored, bound));
  }
  CHECK(at_equality > 100'000);
}

TEST_CASE("rounding by addition is rounding to the nearest, ties to even") {
  Random random(2);
  for (int i = 0; i < 200'000; ++i) {
    const auto halves = static_cast<double>(random.next() >> 20) - 0x1p43;
    const double x = random.one_in(2) ? halves / 2 : any_double(random, 50);
    REQUIRE(round_half_even(x) == std::nearbyint(x));
    const auto y = static_cast<float>(random.one_in(2) ? std::fmod(halves, 0x1p22) / 2
                                                       : any_double(random, 21));
    REQUIRE(round_half_even(y) == std::nearbyint(y));
  }
  for (const double x : {0.5, 1.5, -2.5, 0x1p50, -0x1p50 + 0.5}) {
    CHECK(nearest_integer(x) == std::llrint(x));
  }
  CHECK(round_half_even(0.5) == 0);
  CHECK(round_half_even(1.5F) == 2);
  CHECK(round_half_even(-2.5F) == -2);
}

TEST_CASE("clamping keeps the range") {
  CHECK(clamp_to(5, 1, 3) == 3);
  CHECK(clamp_to(0, 1, 3) == 1);
  CHECK(clamp_to(2, 1, 3) == 2);
}

TEMPLATE_TEST_CASE("what is quantised is restored within the bound", "", float, double) {
  Random random(3);
  std::array<int, 2> outliers{};
  for (int i = 0; i < 100'000; ++i) {
    const double bound = std::ldexp(1 + random.uniform(), -static_cast<int>(random.below(20)));
    const double half_step = half_step_for(bound, -100, 100, DType::f32);
    const auto radius = random.pick({1U, 2U, 512U, max_radius});
    const Quantizer<TestType> quantizer(half_step, bound, -100, 100, radius);
    const auto value = static_cast<TestType>(200 * random.uniform() - 100);
    const auto prediction = static_cast<TestType>(value + any_double(random, 8) * random.uniform());
    const Quantised<TestType> q = quantise(quantizer, {}, value, prediction);
    ++outliers.at(q.code == outlier_code ? 1 : 0);
    if (q.code == outlier_code) {
      REQUIRE(q.restored == value);
      continue;
    }
    REQUIRE(q.code < 2 * radius);
    REQUIRE(q.restored == restore(quantizer, prediction, q.code));
    REQUIRE(differ_by_at_most(value, q.restored, bound));
  }
  CHECK(outliers[0] > 10'000);
  CHECK(outliers[1] > 10'000);
}

TEMPLATE_TEST_CASE("codes and restored values are what conversions of integers give", "", float,
                   double) {
  Random random(4);
  int attempts = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto radius = random.pick({1U, 2U, 512U, max_radius});
    const Quantizer<TestType> quantizer(random.uniform() + 0.01, 1, -50, 50, radius);
    const auto value = static_cast<TestType>(200 * random.uniform() - 100);
    const auto prediction = static_cast<TestType>(value + any_double(random, 12));
    const auto attempt = try_to_quantise(quantizer, value, prediction);
    const TestType scaled = (value - prediction) * quantizer.inverse_step;
    REQUIRE(attempt.in_range ==
            (std::fabs(scaled) < static_cast<TestType>(radius) - static_cast<TestType>(0.5)));
    if (!attempt.in_range) continue;
    ++attempts;
    const auto delta = static_cast<std::int32_t>(std::nearbyint(scaled));
    const auto restored =
        clamp_to<TestType>(prediction + static_cast<TestType>(delta) * quantizer.step, -50, 50);
    REQUIRE(attempt.result.code == delta + static_cast<std::int32_t>(radius));
    REQUIRE(std::bit_cast<std::array<std::byte, sizeof restored>>(attempt.result.restored) ==
            std::bit_cast<std::array<std::byte, sizeof restored>>(restored));
    REQUIRE(restore(quantizer, prediction, attempt.result.code) == restored);
  }
  CHECK(attempts > 10'000);
}

TEST_CASE("codes reach as far as the radius says") {
  const Quantizer<double> quantizer(0.5, 0.5, -1000, 1000, 4);
  CHECK(quantise(quantizer, {}, 10.0, 10.0).code == 4);
  CHECK(quantise(quantizer, {}, 13.0, 10.0).code == 7);
  CHECK(quantise(quantizer, {}, 7.0, 10.0).code == 1);
  CHECK(quantise(quantizer, {}, 13.5, 10.0).code == outlier_code);
  CHECK(quantise(quantizer, {}, 6.5, 10.0).code == outlier_code);
  CHECK(quantise(quantizer, {}, 10.0, infinity).code == outlier_code);
  CHECK(quantise(quantizer, {}, 10.0, std::numeric_limits<double>::quiet_NaN()).code ==
        outlier_code);
}

TEST_CASE("restored values stay in the recorded range") {
  const Quantizer<float> quantizer(0.5, 0.5, 0, 10, 4);
  CHECK(restore(quantizer, 9.8F, 5) == 10);
  CHECK(restore(quantizer, 0.2F, 1) == 0);
  CHECK(clamp_restored(std::numeric_limits<double>::quiet_NaN(), 1.0, 3.0) == 1);
}

TEST_CASE("the half step is next to the bound where the type is fine enough") {
  for (const double bound : {1e-1, 1e-3, 1e-5}) {
    const double half_step = half_step_for(bound, -1, 1, DType::f64);
    CHECK(half_step <= bound);
    CHECK(half_step > bound * (1 - 1e-10));
  }
  CHECK(half_step_for(1e-3, -1, 1, DType::f32) < 1e-3);
  CHECK(half_step_for(1e-3, -1, 1, DType::f32) > 1e-3 - 0x1p-23);
  // A bound far below the spacing of the largest values still makes a step.
  CHECK(half_step_for(1e-12, -1, 1, DType::f32) == 5e-13);
}

TEMPLATE_TEST_CASE("values of one binade lie on the quantiser's grid", "", float, double) {
  Random random(4);
  constexpr int digits = std::numeric_limits<TestType>::digits;
  for (int i = 0; i < 2'000; ++i) {
    const int exponent = static_cast<int>(random.below(100)) - 50;
    const double spacing = std::ldexp(1.0, exponent - digits + 1);
    const double bound = spacing * std::ldexp(random.uniform(), static_cast<int>(random.below(9)));
    const double min = std::ldexp(1.0, exponent);
    const double max = 2 * min - spacing;
    const double steps = half_step_for(bound, min, max, dtype_of<TestType>) * 2 / spacing;
    INFO("bound " << bound / spacing << " spacings, step " << steps);
    REQUIRE(std::fmod(steps, 2) == 1);
    // Half of an odd step rounds down to whole spacings: no grid point is further than that.
    REQUIRE((steps - 1) / 2 <= bound / spacing);
    REQUIRE((steps + 1) / 2 > bound / spacing);
    REQUIRE(half_step_for(bound, -max, -min, dtype_of<TestType>) * 2 == steps * spacing);
  }
}

TEST_CASE("half steps that the type cannot hold are not usable") {
  CHECK(is_usable_half_step(1e-3, DType::f32));
  CHECK_FALSE(is_usable_half_step(0, DType::f64));
  CHECK_FALSE(is_usable_half_step(-1, DType::f64));
  CHECK_FALSE(is_usable_half_step(infinity, DType::f64));
  CHECK_FALSE(is_usable_half_step(std::numeric_limits<double>::quiet_NaN(), DType::f64));
  CHECK_FALSE(is_usable_half_step(1e-40, DType::f32));
  CHECK(is_usable_half_step(1e-40, DType::f64));
  CHECK_FALSE(is_usable_half_step(1e39, DType::f32));
  CHECK_FALSE(is_usable_half_step(std::numeric_limits<double>::denorm_min(), DType::f64));
}

}  // namespace cuszi::test

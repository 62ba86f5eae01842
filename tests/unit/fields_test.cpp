#include "test_data/fields.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/base/bytes.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/exact.hpp"

namespace cuszi::test {

namespace {

template <class T, class Test>
std::ptrdiff_t count(const std::vector<T>& values, const Test& test) {
  return std::count_if(values.begin(), values.end(), test);
}

}  // namespace

TEST_CASE("splitmix64 gives its published numbers") {
  Random random(1234567);
  CHECK(random.next() == 6457827717110365317U);
  CHECK(random.next() == 3203168211198807973U);
  CHECK(random.next() == 9817491932198370423U);
}

TEST_CASE("fields are what their kinds say", "[unsanitized]") {
  const Dims dims{30, 40, 50};
  const auto values = [&](FieldKind kind) { return make_values<float>(kind, dims, 1); };
  const auto is_finite = [](float x) { return std::isfinite(x); };

  const auto constant = values(FieldKind::constant);
  CHECK(count(constant, [&](float x) { return x == constant[0]; }) == std::ssize(constant));
  const auto sparse = values(FieldKind::sparse);
  CHECK(count(sparse, [](float x) { return x != 0; }) > 600);
  CHECK(count(sparse, [](float x) { return x != 0; }) < 2'400);
  const auto missing = values(FieldKind::missing);
  CHECK(count(missing, [](float x) { return std::isnan(x); }) > 1'000);
  CHECK(count(missing, [](float x) { return std::isinf(x); }) > 50);
  CHECK(count(missing, is_finite) > 1'000);
  const auto filled = values(FieldKind::filled);
  CHECK(count(filled, [](float x) { return x == 1e20F; }) > 1'000);
  CHECK(count(filled, [](float x) { return std::fabs(x) < 10; }) > 1'000);
  const auto wide = values(FieldKind::wide);
  CHECK(count(wide, is_finite) == std::ssize(wide));
  CHECK(count(wide, [](float x) { return x == 0 && std::signbit(x); }) > 0);
  CHECK(count(wide, [](float x) { return x != 0 && !std::isnormal(x); }) > 50);
  CHECK(count(wide, [](float x) { return std::fabs(x) > 1e38F; }) > 50);
  const auto steps = values(FieldKind::steps);
  CHECK(count(steps, [](float x) { return x != std::floor(x); }) == 0);
  const auto smooth = values(FieldKind::smooth);
  float largest_step = 0;
  for (std::size_t i = 1; i < 50; ++i) {
    largest_step = std::max(largest_step, std::fabs(smooth[i] - smooth[i - 1]));
  }
  CHECK(largest_step < 1);
  CHECK(largest_step > 0);
  const auto ramp = make_values<double>(FieldKind::ramp, {4, 8}, 1);
  CHECK(ramp[9] == 0.25 + 2.0 / 8);
}

TEST_CASE("fields follow from their seed") {
  for (const auto& [kind, name] : field_kinds) {
    INFO(name);
    const auto field = [k = kind](std::uint64_t seed) {
      return make_field(k, {7, 8, 9}, DType::f64, seed);
    };
    CHECK(field(1) == field(1));
    const bool has_no_choice = kind == FieldKind::constant || kind == FieldKind::ramp;
    CHECK((field(1) == field(2)) == has_no_choice);
  }
}

TEST_CASE("fields are the same on every machine") {
  const std::map<std::string, std::uint64_t> hashes{
      {"smooth", 0x9EB3DBED3362CB63},  {"rough", 0x7D4129AE8E3A2093},
      {"sparse", 0x585F792050233F40},  {"constant", 0x648687190848CCAF},
      {"missing", 0xC58886B1494861C5}, {"filled", 0xC77B54950E9A5AE2},
      {"wide", 0xD8170FBB21FCA43B},    {"ramp", 0xA6EE30903D2FD766},
      {"steps", 0x92497FB5ACFB1462},   {"slices", 0xA288E7329D9ABA50}};
  for (const auto& [kind, name] : field_kinds) {
    INFO(name);
    CHECK(block_hash(make_field(kind, {2, 5, 6, 7}, DType::f32, 42)) ==
          hashes.at(std::string(name)));
  }
}

TEST_CASE("sums are exact") {
  CHECK(sign_of_sum({}) == 0);
  CHECK(sign_of_sum({1, -1}) == 0);
  CHECK(sign_of_sum({1e300, 5e-324, -1e300}) == 1);
  CHECK(sign_of_sum({1e300, -5e-324, -1e300}) == -1);
  CHECK(sign_of_sum({0.1, 0.2, -0.3}) == 1);
  CHECK(sign_of_sum({std::numeric_limits<double>::max(), std::numeric_limits<double>::max()}) == 1);
  CHECK(sign_of_sum({-std::numeric_limits<double>::max(), -std::numeric_limits<double>::max()}) ==
        -1);
  CHECK(differ_by_at_most(1, 0, 1));
  CHECK_FALSE(differ_by_at_most(1, -5e-324, 1));
  CHECK_FALSE(differ_by_at_most(-5e-324, 1, 1));
}

}  // namespace cuszi::test

#include "codec/field/fill_watch.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "codec/archive/field_codec.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

constexpr std::uint64_t points = 1'000'000;
constexpr FillLook of_range{0, {}, {}, true};

double normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) *
         std::cos(2 * std::numbers::pi * random.uniform());
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

/// What is told of these values, which lie in the host's memory or in a session's.
template <class T>
std::vector<std::string> suspects(const std::vector<T>& values, const FillLook& look = of_range) {
  constexpr DType dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
  FillWatch watch({}, look);
  watch.look_at(dtype, bytes_of(values));
  std::vector<std::string> found;
  for (const FillWarning& warning : watch.warnings()) found.push_back(warning.value);

  const auto backend = cpu::make_backend();
  StepTimes times;
  const FrameShape shape{dtype, Dims{values.size()}};
  const LoadedFrame frame =
      load_frame(*backend, FrameConfig{}, shape, bytes_of(values), FillValues{}, times);
  FillWatch of_frame({}, look);
  of_frame.look_at(frame);
  std::vector<std::string> found_in_frame;
  for (const FillWarning& warning : of_frame.warnings()) found_in_frame.push_back(warning.value);
  CHECK(found == found_in_frame);
  return found;
}

template <class T, class Make>
std::vector<T> field_of(std::uint64_t seed, const Make& make, std::uint64_t count = points) {
  Random random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(make(random));
  return values;
}

/// So many points, hashed ones, get a value.
template <class T>
std::vector<T> with(std::vector<T> values, double value, std::uint64_t count) {
  Random random(77 + (value < 0 ? 1 : 0));
  for (std::uint64_t i = 0; i < count; ++i) {
    values[random.below(values.size())] = static_cast<T>(value);
  }
  return values;
}

std::function<double(Random&)> power_law(double exponent) {
  return [=](Random& random) { return std::pow(1 - random.uniform(), -1 / exponent); };
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("few values that mean missing are suspected where the range counts", "[unsanitized]") {
  const auto f32 = field_of<float>(1, normal);
  const auto f64 = field_of<double>(1, normal);
  for (const std::uint64_t count : {1U, 3U, 20U, 200U, 100000U}) {
    INFO(count);
    CHECK(suspects(with(f32, 1e20, count)) == Words{"1e+20"});
    CHECK(suspects(with(f64, -1e34, count)) == Words{"-1e+34"});
    CHECK(suspects(with(f64, 9.96921e36F, count)) == Words{"9.969209968386869e+36"});
    CHECK(suspects(with(with(f32, 1e20, count), -1e20, count)) == Words{"-1e+20", "1e+20"});
  }
  for (const std::uint64_t count : {2U, 20U, 200U, 300000U}) {
    INFO(count);
    CHECK(suspects(with(f32, -999, count)) == Words{"-999"});
    CHECK(suspects(with(f32, -999.9, count)) == Words{"-999.9"});
    CHECK(suspects(with(f64, -999.9, count)) == Words{"-999.9"});
    CHECK(suspects(with(f64, -32768, count)) == Words{"-32768"});
    CHECK(suspects(with(f64, 9999, count)) == Words{"9999"});
  }
  CHECK(suspects(with(f32, -8.88e15, 200)) == Words{"-8880000000000000"});
  CHECK(suspects(with(f32, 1234567, 50000)) == Words{"1234567"});
}

TEST_CASE("an absolute bound suspects what is drawn often enough") {
  const auto values = field_of<float>(2, normal);
  CHECK(suspects(with(values, 1e20, 20000), {}) == Words{"1e+20"});
  CHECK(suspects(with(values, -999, 20000), {}) == Words{"-999"});
  CHECK(suspects(with(values, 1e6, 20000), {}) == Words{"1000000"});
  CHECK(suspects(with(values, 1e20, 10), {}).empty());
}

TEST_CASE("a value that pads is not suspected, others are") {
  auto values = field_of<float>(3, [](Random& r) { return 1013 + 0.1 * normal(r); });
  std::fill(values.begin(), values.begin() + points / 4, 0.0F);
  FillLook padded = of_range;
  padded.padding = 0;
  for (const FillLook& look : {padded, FillLook{0, {}, 0.0, false}}) {
    CHECK(suspects(values, look).empty());
    CHECK(suspects(with(values, 1e20, 20000), look) == Words{"1e+20"});
  }
  CHECK(suspects(values) == Words{"0"});
  CHECK(suspects(values, {}) == Words{"0"});
}

TEST_CASE("honest data are not suspected", "[unsanitized]") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    INFO("seed " << seed);
    const auto check = [&](const char* what, const auto& make) {
      INFO(what);
      const std::uint64_t most = seed == 1 ? points : 100'000;
      for (const std::uint64_t count : {most, std::uint64_t{20'000}, std::uint64_t{600}}) {
        const auto values = field_of<float>(seed, make, count);
        CHECK(suspects(values).empty());
        CHECK(suspects(values, {}).empty());
        CHECK(suspects(field_of<double>(seed, make, count)).empty());
      }
    };
    check("power law, 2", power_law(2));
    check("power law, 1", power_law(1));
    check("power law, 0.5", power_law(0.5));
    check("power law, 0.3", power_law(0.3));
    check("log-normal density", [](Random& r) { return std::exp(3 * normal(r)); });
    check("log-normal density over decades", [](Random& r) { return std::exp(12 * normal(r)); });
    check("Cauchy", [](Random& r) { return std::tan(std::numbers::pi * (r.uniform() - 0.5)); });
    check("rain in few places",
          [](Random& r) { return r.uniform() < 0.97 ? 0 : std::exp(4 * normal(r) - 12); });
    check("rain in whole tenths",
          [](Random& r) { return r.uniform() < 0.9 ? 0 : std::floor(power_law(1.2)(r)) / 10; });
    check("counts", [](Random& r) { return std::floor(std::pow(1 - r.uniform(), -1 / 0.8)) - 1; });
    check("one value, and few others",
          [](Random& r) { return r.one_in(5000) ? 1e5 * (1 + r.uniform()) : 1.0; });
    check("a hot ball in what is at rest", [](Random& r) { return r.one_in(100) ? 1e6 : 1e-5; });
  }
  const auto noise = field_of<float>(5, normal);
  for (const double peak : {1e4, 1e6, -1e8, 1e10, 3.7e14}) {
    INFO(peak);
    CHECK(suspects(with(noise, peak, 1)).empty());
    CHECK(suspects(with(noise, peak, 5)).empty());
  }
  CHECK(suspects(with(noise, 1e6, 30)).empty());
  CHECK(suspects(std::vector<float>(points, 5.0F)).empty());
  CHECK(suspects(with(std::vector<float>(points), 1e6, 1)).empty());
}

}  // namespace cuszi::test

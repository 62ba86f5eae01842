#include "core/field/restore_rules.hpp"

#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/field/quantizer.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi {

namespace {

ValueRules rules_with(std::initializer_list<double> isovalues) {
  ValueRules rules;
  for (const double isovalue : isovalues) rules.isovalues.add(isovalue);
  return rules;
}

}  // namespace

TEST_CASE("a restored value stays below, at or above an isovalue") {
  const RestoreRules<double> rules(rules_with({0.5}), -1, 1);
  REQUIRE(rules.any());
  CHECK(rules.allow(0.4, 0.49));
  CHECK(rules.allow(0.6, 0.51));
  CHECK(rules.allow(0.5, 0.5));
  CHECK_FALSE(rules.allow(0.4, 0.5));
  CHECK_FALSE(rules.allow(0.5, 0.4));
  CHECK_FALSE(rules.allow(0.51, 0.49));
  CHECK_FALSE(rules.allow(0.49, 0.51));
}

TEST_CASE("an isovalue that is no f32 has f32 values on two sides only") {
  constexpr float above = 0.1F;  // a little more than 0.1
  constexpr float below = 0.099999994F;
  const RestoreRules<float> rules(rules_with({0.1}), -1, 1);
  CHECK_FALSE(rules.allow(above, below));
  CHECK(rules.allow(above, 1));
}

TEST_CASE("zeros of either sign are at the isovalue 0") {
  const RestoreRules<float> rules(rules_with({0}), -1, 1);
  CHECK(rules.allow(-0.0F, 0.0F));
  CHECK_FALSE(rules.allow(0.0F, std::numeric_limits<float>::denorm_min()));
}

TEST_CASE("isovalues out of a frame's range cost nothing") {
  CHECK_FALSE(RestoreRules<float>(rules_with({2, -2}), -1, 1).any());
  CHECK(RestoreRules<float>(rules_with({1}), -1, 1).any());
  CHECK_FALSE(RestoreRules<float>(rules_with({2}), -1, 1).zone(1e-3).any());
}

TEMPLATE_TEST_CASE("no rule matters to values outside of its zone", "", float, double) {
  test::Random random(1);
  const auto uniform = [&](double from, double to) {
    return from + (to - from) * random.uniform();
  };
  for (int round = 0; round < 2000; ++round) {
    const double scale = std::ldexp(1.0, static_cast<int>(random.below(60)) - 30);
    const double bound = scale * std::ldexp(uniform(0.5, 1), -static_cast<int>(random.below(30)));
    ValueRules asked;
    for (std::uint64_t i = 0; i <= random.below(2); ++i) {
      asked.isovalues.add(scale * uniform(-1, 1));
      if (random.one_in(3)) asked.fills.add(scale * uniform(-1, 1));
    }
    const RestoreRules<TestType> rules(asked, -4 * scale, 4 * scale);
    const RuleZone<TestType> zone = rules.zone(bound);
    REQUIRE(zone.any());
    const double from = asked.isovalues.values[0];
    const auto value = static_cast<TestType>(from + uniform(-3, 3) * bound);
    INFO("round " << round << " value " << value << " isovalue " << from << " bound " << bound);
    const double least = static_cast<double>(value) - bound;
    const double most = static_cast<double>(value) + bound;
    for (const double end : {least, most, uniform(least, most)}) {
      const auto restored = static_cast<TestType>(end);
      if (!within_bound(static_cast<double>(value), static_cast<double>(restored), bound)) continue;
      REQUIRE((zone.has(value) || rules.allow(value, restored)));
    }
    REQUIRE(zone.has(static_cast<TestType>(from)));
    REQUIRE_FALSE(zone.has(static_cast<TestType>(from + 8 * scale)));
  }
}

TEST_CASE("a value that would change sides is an outlier") {
  const RestoreRules<float> rules(rules_with({0}), -1, 1);
  const Quantizer<float> quantizer(0.1, 0.1, -1, 1, max_radius, rules);
  const Quantised<float> kept = quantise(quantizer, rules, 0.05F, 0.02F);
  CHECK(kept.code != outlier_code);
  CHECK(kept.restored == 0.02F);
  const Quantised<float> patched = quantise(quantizer, rules, 0.05F, -0.02F);
  CHECK(patched.code == outlier_code);
  CHECK(patched.restored == 0.05F);
}

TEST_CASE("there are at most 16 isovalues") {
  IsoValues isovalues;
  for (int i = 0; i < 16; ++i) isovalues.add(i);
  CHECK_THROWS_AS(isovalues.add(16), UsageError);
}

}  // namespace cuszi

#include "core/field/restore_rules.hpp"

#include <limits>

#include "core/base/error.hpp"
#include "core/field/quantizer.hpp"
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
  CHECK(certainly_within(1e-3, RestoreRules<float>(rules_with({2}), -1, 1)) > 0);
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

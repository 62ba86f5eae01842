#include "codec/quality/bound_search.hpp"

#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

template <class ScoreAt>
BoundSearch search_with(const Goal& goal, double first, int steps, const ScoreAt& score_at) {
  BoundSearch search(goal, first, steps);
  while (!search.done()) search.add(score_at(search.bound()));
  return search;
}

}  // namespace

TEST_CASE("a search ends in its goal") {
  const auto psnr = [](double bound) { return 5 - 20 * std::log10(bound); };
  const auto best = search_with({80, 80.1, false}, 1, 6, psnr).best();
  REQUIRE(best.has_value());
  CHECK(psnr(*best) >= 80);
  CHECK(psnr(*best) <= 80.1);

  const auto ratio = [](double bound) { return 4 * std::log(1 + 1000 * bound); };
  const auto wide = search_with({20, 20.1, true}, 1e-3, 8, ratio).best();
  REQUIRE(wide.has_value());
  CHECK(ratio(*wide) >= 20);
  CHECK(ratio(*wide) <= 20.1);
}

TEST_CASE("a search never asks for a bound that is no number") {
  constexpr double largest = std::numeric_limits<double>::max();
  const auto too_small = [](double bound) {
    CHECK(std::isfinite(bound));
    return 100.0;  // more than is asked for, whatever the bound
  };
  const BoundSearch search = search_with({60, 60.1, false}, largest / 4, 8, too_small);
  CHECK(std::isfinite(search.bound()));
  REQUIRE(search.best());
  CHECK(std::isfinite(*search.best()));
}

TEST_CASE("a search takes what is nearest above a jump") {
  const auto jump = [](double bound) { return bound < 0.01 ? 90.0 : 60.0; };
  const auto best = search_with({80, 80.1, false}, 1, 20, jump).best();
  REQUIRE(best.has_value());
  CHECK(*best < 0.01);
  CHECK(*best > 0.009);
}

TEST_CASE("a search turns back where a bound is too large to code anything by it") {
  const auto psnr = [](double bound) {
    return bound > 0.03 ? std::numeric_limits<double>::infinity() : -20 * std::log10(bound);
  };
  const auto best = search_with({31, 31.1, false}, 1e-3, 12, psnr).best();
  REQUIRE(best.has_value());
  CHECK(psnr(*best) >= 31);
  CHECK(psnr(*best) <= 31.1);
}

TEST_CASE("a search leaves bounds that lose nothing") {
  const auto psnr = [](double bound) {
    return bound < 1e-3 ? std::numeric_limits<double>::infinity() : -20 * std::log10(bound);
  };
  const auto best = search_with({40, 40.1, false}, 1e-6, 12, psnr).best();
  REQUIRE(best.has_value());
  CHECK(psnr(*best) <= 40.1);
}

TEST_CASE("a search says when a goal is out of reach") {
  CHECK_FALSE(search_with({80, 80.1, false}, 1, 5, [](double) { return 30.0; }).best());
}

}  // namespace cuszi::test

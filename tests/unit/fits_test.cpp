#include <algorithm>
#include <cmath>
#include <limits>

#include "core/energy_fit.hpp"
#include "core/stencil_fit.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

// Fits are sums over samples, and every backend makes these sums its own way. What must agree is
// compared before anything is rounded for the archive.

namespace cuszi::test {

namespace {

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

/// The finest class of three odd axes of a frame, and a sample of made observations of which some
/// take no part.
struct MadeFit {
  Stencil stencil;
  Observations sample;

  explicit MadeFit(std::uint64_t samples)
      : stencil(stencil_with_all()), sample(stencil.size - 1U, samples) {
    Random random(samples);
    for (std::uint64_t k = 0; k < samples; ++k) {
      const std::size_t block = k / sum_lanes;
      const std::size_t lane = k % sum_lanes;
      if (random.one_in(7)) continue;
      sample.taking_part(block)[lane] = 1;
      sample.targets(block)[lane] = random.uniform() - 0.5;
      for (unsigned i = 0; i < sample.unknowns(); ++i) {
        sample.row(block, i)[lane] = random.uniform() - 0.5;
      }
    }
  }

  static Stencil stencil_with_all() {
    const Lattice lattice = Lattice::of({20, 40, 40, 40}, false, {AxisRole::layered});
    const Schedule schedule = make_schedule(lattice);
    return stencil_of(lattice, 7, schedule.classes.back());
  }
};

Shares some_shares() {
  Shares shares{};
  for (unsigned i = 0; i < most_unknowns; ++i) shares.at(i) = 0.01 * i - 0.05;
  return shares;
}

/// One term of the equations, as a GPU's warp would make it: a lane walks through its own samples,
/// and which lane goes first is not defined.
template <class Term>
double warp_sum(const Observations& sample, Random& random, const Term& term) {
  LaneSums sums{};
  std::array<bool, sum_lanes> done{};
  for (std::size_t left = sum_lanes; left != 0;) {
    const std::size_t lane = random.below(sum_lanes);
    if (done.at(lane)) continue;
    done.at(lane) = true;
    --left;
    for (std::size_t block = 0; block < sample.blocks(); ++block) {
      sums.at(lane) += term(block, lane);
    }
  }
  return tree_sum(sums);
}

StencilEquations equations_of_warps(const MadeFit& fit, double bound, const Shares& before,
                                    Random& random) {
  const Observations& s = fit.sample;
  const auto weight = [&](std::size_t block, std::size_t lane) {
    const double r = residual_of(s.row(block, 0) + lane, sum_lanes, s.targets(block)[lane],
                                 s.unknowns(), before);
    return fit_weight(r, bound, s.taking_part(block)[lane] != 0);
  };
  StencilEquations equations;
  equations.unknowns = s.unknowns();
  for (unsigned i = s.unknowns(); i-- > 0;) {
    const auto weighted = [&](std::size_t block, std::size_t lane) {
      return weight(block, lane) * s.row(block, i)[lane];
    };
    equations.right.at(i) = warp_sum(s, random, [&](std::size_t block, std::size_t lane) {
      return weighted(block, lane) * s.targets(block)[lane];
    });
    for (unsigned j = i; j < s.unknowns(); ++j) {
      equations.at(i, j) = warp_sum(s, random, [&](std::size_t block, std::size_t lane) {
        return weighted(block, lane) * s.row(block, j)[lane];
      });
    }
  }
  add_noise(fit.stencil, warp_sum(s, random, weight), bound, equations);
  return equations;
}

/// Samples of a group whose features and magnitudes are as large as they can be, or small.
EnergySample made_sample(std::size_t samples, bool is_extreme) {
  Random random(samples);
  EnergySample sample;
  sample.points = samples;
  for (std::size_t k = 0; k < samples; ++k) {
    EnergyFeatures f{};
    for (unsigned i = 0; i < energy_features; ++i) {
      f.at(i) = is_extreme ? max_slope : static_cast<std::int32_t>(random.below(300));
    }
    f[constant] = energy_one;
    sample.features.push_back(f);
    sample.magnitudes.push_back(
        static_cast<std::uint8_t>(is_extreme ? max_magnitude : random.below(8)));
  }
  return sample;
}

}  // namespace

TEST_CASE("the largest stencil is as large as its type says") {
  const Stencil stencil = MadeFit::stencil_with_all();
  CHECK(stencil.size == 19);
  CHECK(stencil.all_taps() == 70);
}

TEST_CASE("stencil fits are the same for any order that the sums allow") {
  Random random(11);
  for (const std::uint64_t samples : {40U, 64U, 1000U, 8192U}) {
    const MadeFit fit(samples);
    for (const double bound : {1e-4, 1e-1}) {
      const StencilEquations serial =
          stencil_equations(fit.sample, fit.stencil, bound, some_shares());
      const StencilEquations warps = equations_of_warps(fit, bound, some_shares(), random);
      REQUIRE(serial.right == warps.right);
      REQUIRE(serial.matrix == warps.matrix);
    }
  }
}

TEST_CASE("observations that take no part do not show in a fit") {
  MadeFit fit(1000);
  Shares before = some_shares();
  const StencilEquations with_gaps = stencil_equations(fit.sample, fit.stencil, 1e-2, before);
  std::uint64_t used = 0;
  double weights = 0;
  double first_right = 0;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const std::size_t block = k / sum_lanes;
    const std::size_t lane = k % sum_lanes;
    if (fit.sample.taking_part(block)[lane] == 0) continue;
    ++used;
    const double r = residual_of(fit.sample.row(block, 0) + lane, sum_lanes,
                                 fit.sample.targets(block)[lane], fit.sample.unknowns(), before);
    const double weight = fit_weight(r, 1e-2, true);
    weights += weight;
    first_right += weight * fit.sample.row(block, 0)[lane] * fit.sample.targets(block)[lane];
  }
  CHECK(used == fit.sample.used());
  first_right += weights * 0.5 * 1e-4 / 3 / 2;  // noise of a pair
  CHECK(is_near(with_gaps.right[0], first_right));
}

TEST_CASE("equations are solved") {
  NormalEquations<4> equations;
  equations.unknowns = 3;
  equations.matrix = {4, 1, 2, 0, 0, 5, 1, 0, 0, 0, 6, 0};
  equations.right = {4 * 1.0 + 1 * -2.0 + 2 * 3.0, 1 * 1.0 + 5 * -2.0 + 1 * 3.0,
                     2 * 1.0 + 1 * -2.0 + 6 * 3.0};
  std::array<double, 4> x{};
  REQUIRE(solve(equations, 0, x));
  CHECK(is_near(x[0], 1));
  CHECK(is_near(x[1], -2));
  CHECK(is_near(x[2], 3));
  equations.right[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(solve(equations, 0, x));
}

TEST_CASE("energy fits are the same for any order of the samples") {
  const EnergySample sample = made_sample(5000, false);
  const EnergySums sums = energy_sums(sample, default_weights);
  EnergySample reversed = sample;
  std::reverse(reversed.features.begin(), reversed.features.end());
  std::reverse(reversed.magnitudes.begin(), reversed.magnitudes.end());
  const EnergySums other = energy_sums(reversed, default_weights);
  CHECK(sums.matrix == other.matrix);
  CHECK(sums.right == other.right);
}

TEST_CASE("sums of energy fits do not overflow") {
  // Nothing is heavier than an estimate of 0.
  const EnergyWeights nothing{};
  CHECK(energy_fit_weight(0) < std::int64_t{1} << 27);
  CHECK(energy_fit_weight(std::numeric_limits<std::int32_t>::min()) == energy_fit_weight(0));
  CHECK(energy_fit_weight(std::numeric_limits<std::int32_t>::max()) == 1);
  const EnergySums sums = energy_sums(made_sample(8192, true), nothing);
  const double expected =
      8192.0 * static_cast<double>(energy_fit_weight(0)) * max_slope * max_slope;
  CHECK(expected < 9.2e18);
  CHECK(is_near(static_cast<double>(sums.matrix[1][1]), expected));
}

TEST_CASE("an energy fit finds the weights that magnitudes were made with") {
  EnergySample sample = made_sample(5000, false);
  const EnergyWeights truth{200, 900, 300, 500, 100, 50, 20, 10, 0, 30};
  for (std::size_t k = 0; k < sample.features.size(); ++k) {
    const std::int32_t sum = weighted_sum(truth, sample.features[k]);
    sample.magnitudes[k] = static_cast<std::uint8_t>((sum + (1 << 13)) >> energy_weight_bits);
  }
  EnergyWeights weights = default_weights;
  for (int round = 0; round < 4; ++round) REQUIRE(solve(energy_sums(sample, weights), weights));
  for (unsigned i = 1; i < energy_features; ++i) {
    CHECK(std::abs(weights.at(i) - truth.at(i)) <= 20);
  }
}

}  // namespace cuszi::test

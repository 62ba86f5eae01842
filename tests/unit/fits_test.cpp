#include <algorithm>
#include <cmath>
#include <limits>

#include "core/multilevel/code_position.hpp"
#include "cpu_ref/multilevel/context_fit.hpp"
#include "cpu_ref/tuning/stencil_fit.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

// Fits are sums over samples, and every backend makes these sums its own way. What must agree is
// compared before anything is rounded for the archive.

namespace cuszi::test {

namespace {

using cpu::ContextSample;
using cpu::Observations;

bool agree(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

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
      const double target = random.uniform() - 0.5;
      sample.set(k, {target, std::fabs(target) + random.uniform(), true}, 1e-2);
      for (unsigned i = 0; i < sample.unknowns(); ++i) {
        sample.row(block, i)[lane] = random.uniform() - 0.5;
      }
    }
    sample.make_bins();
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

double residual_at(const Observations& s, std::size_t block, std::size_t lane,
                   const Shares& shares) {
  return residual_of(s.row(block, 0) + lane, sum_lanes, s.targets(block)[lane], s.unknowns(),
                     shares);
}

/// The scales of the bins, of samples from the last to the first.
BinScales scales_of_threads(const Observations& s, double bound, const Shares& shares) {
  BinScales scales;
  for (std::uint64_t k = s.samples(); k-- > 0;) {
    const std::size_t block = k / sum_lanes;
    const std::size_t lane = k % sum_lanes;
    if (s.taking_part(block)[lane] == 0) continue;
    scales.sums.at(s.bin(k)) += BinScales::term(residual_at(s, block, lane, shares), bound);
    ++scales.counts.at(s.bin(k));
  }
  return scales;
}

StencilEquations equations_of_warps(const MadeFit& fit, double bound, const Shares& before,
                                    Random& random) {
  const Observations& s = fit.sample;
  const BinScales scales = scales_of_threads(s, bound, before);
  const auto weight = [&](std::size_t block, std::size_t lane) {
    const double scale = bound * scales.mean(s.bin(block * sum_lanes + lane));
    return fit_weight(residual_at(s, block, lane, before), scale, bound,
                      s.taking_part(block)[lane] != 0);
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
  const double noise = warp_sum(s, random, [&](std::size_t block, std::size_t lane) {
    return weight(block, lane) * neighbour_noise(residual_at(s, block, lane, before), bound);
  });
  for (unsigned i = s.unknowns(); i-- > 0;) add_noise(fit.stencil, noise, i, equations);
  return equations;
}

/// Samples of a group whose features and magnitudes are as large as they can be, or small.
ContextSample made_sample(std::size_t samples, bool is_extreme) {
  Random random(samples);
  ContextSample sample;
  sample.points = samples;
  for (std::size_t k = 0; k < samples; ++k) {
    Features f{};
    for (unsigned i = 0; i < feature_count; ++i) {
      f.at(i) = is_extreme ? max_slope : static_cast<std::int32_t>(random.below(300));
    }
    f[constant] = feature_one;
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
    if (sanitized && samples > 1000) continue;
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
  const BinScales scales = scales_of_threads(fit.sample, 1e-2, before);
  std::uint64_t used = 0;
  double noise = 0;
  double first_right = 0;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const std::size_t block = k / sum_lanes;
    const std::size_t lane = k % sum_lanes;
    if (fit.sample.taking_part(block)[lane] == 0) continue;
    ++used;
    const double r = residual_of(fit.sample.row(block, 0) + lane, sum_lanes,
                                 fit.sample.targets(block)[lane], fit.sample.unknowns(), before);
    const double weight = fit_weight(r, 1e-2 * scales.mean(fit.sample.bin(k)), 1e-2, true);
    noise += weight * neighbour_noise(r, 1e-2);
    first_right += weight * fit.sample.row(block, 0)[lane] * fit.sample.targets(block)[lane];
  }
  CHECK(used == fit.sample.used());
  first_right += noise / 2;  // the first group is a pair
  CHECK(agree(with_gaps.right[0], first_right));
}

TEST_CASE("samples are binned by the curvature of the field") {
  Observations sample(1, 1000);
  for (std::uint64_t k = 0; k < 1000; ++k) {
    sample.set(k, {0, std::ldexp(1e-3, static_cast<int>(k % 32) - 8), k % 7 != 0}, 1e-3);
  }
  sample.make_bins();
  std::array<unsigned, scale_bins> used{};
  for (std::uint64_t k = 0; k < 1000; ++k) {
    REQUIRE(sample.bin(k) < scale_bins);
    for (const std::uint64_t other : {k + 1, k + 5}) {  // a larger curvature is in no lower bin
      if (k % 32 < other % 32 && other < 1000) CHECK(sample.bin(k) <= sample.bin(other));
    }
    if (k % 7 != 0) ++used.at(sample.bin(k));
  }
  for (const unsigned count : used) CHECK(count > 30);
}

TEST_CASE("the noise of neighbours grows with the residual up to that of codes") {
  CHECK(neighbour_noise(0, 1e-2) == 0);
  CHECK(neighbour_noise(-1e-4, 1e-2) == 16 * 1e-4 * 1e-4);
  CHECK(neighbour_noise(1, 1e-2) == 0.1 * 1e-2 * 1e-2);
}

TEST_CASE("scales of residuals stay finite") {
  CHECK(BinScales::term(-3e-3, 1e-3) == 3 * 4096);
  for (const double r :
       {std::numeric_limits<double>::infinity(), 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(BinScales::term(r, 1e-3) == std::uint64_t{4096} << 20);
  }
  CHECK(BinScales{}.mean(3) == 0);
}

TEST_CASE("a curvature is the sum of what near and far pairs differ") {
  const Lattice lattice = Lattice::of({32, 32, 32}, false, {});
  const Schedule schedule = make_schedule(lattice);
  const PointClass& points = schedule.classes.back();  // three odd axes
  const Stencil stencil = stencil_of(lattice, 5, points);
  std::vector<float> values(32 * 32 * 32, 0);
  const Index4 at{0, 15, 15, 15};
  const std::uint64_t place = offset_of(schedule.grid, at);
  values[place + 1] = 8;
  values[place - 3 * 32] = 16;
  values[place + 32 * 32 + 32] = 100;  // a diagonal
  const PointAt<const float*> p{schedule.grid, points, at, values.data() + place};
  Shares row{};
  const Observation seen = observe(stencil, p, values[place], row.data(), 1);
  CHECK(seen.is_used);
  CHECK(seen.curvature == 8 + 16);
  values[place + 7 * 32] = std::numeric_limits<float>::quiet_NaN();  // out of reach
  CHECK(observe(stencil, p, values[place], row.data(), 1).is_used);
  values[place + 5 * 32] = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(observe(stencil, p, values[place], row.data(), 1).is_used);
}

TEST_CASE("of samples whose residuals depend on the curvature a fit believes the calm ones") {
  // In calm places the second share is 0.2; in rough ones, where residuals are large, it is 0.6.
  const Lattice lattice = Lattice::of({4096}, false, {});
  const Schedule schedule = make_schedule(lattice);
  const PointClass& points = schedule.classes.back();
  const Stencil stencil = stencil_of(lattice, 3, points);
  REQUIRE(stencil.size == 2);
  Observations sample(1, 4000);
  Random random(8);
  for (std::uint64_t k = 0; k < 4000; ++k) {
    const bool is_calm = random.one_in(3);
    const double mean = random.uniform() - 0.5;
    const double noise = (is_calm ? 0.01 : 1.0) * (random.uniform() - 0.5);
    sample.row(k / sum_lanes, 0)[k % sum_lanes] = mean;
    sample.set(k, {(is_calm ? 0.2 : 0.6) * mean + noise, is_calm ? 0.1 : 10.0, true}, 1e-3);
  }
  sample.make_bins();
  const Coefficients fitted = fit_stencil(sample, stencil, points, 1e-3, fewest_fit_points);
  REQUIRE(fitted.size() == 1);
  CHECK(std::abs(fitted[0] / 1024.0 - 0.2) < 0.005);
}

TEST_CASE("equations are solved") {
  NormalEquations<4> equations;
  equations.unknowns = 3;
  equations.matrix = {4, 1, 2, 0, 0, 5, 1, 0, 0, 0, 6, 0};
  equations.right = {4 * 1.0 + 1 * -2.0 + 2 * 3.0, 1 * 1.0 + 5 * -2.0 + 1 * 3.0,
                     2 * 1.0 + 1 * -2.0 + 6 * 3.0};
  std::array<double, 4> x{};
  REQUIRE(solve(equations, 0, x));
  CHECK(agree(x[0], 1));
  CHECK(agree(x[1], -2));
  CHECK(agree(x[2], 3));
  equations.right[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(solve(equations, 0, x));
}

TEST_CASE("context fits are the same for any order of the samples") {
  const ContextSample sample = made_sample(5000, false);
  const ContextSums sums = context_sums(sample, default_weights);
  ContextSample reversed = sample;
  std::reverse(reversed.features.begin(), reversed.features.end());
  std::reverse(reversed.magnitudes.begin(), reversed.magnitudes.end());
  const ContextSums other = context_sums(reversed, default_weights);
  CHECK(sums.matrix == other.matrix);
  CHECK(sums.right == other.right);
}

TEST_CASE("context fits sum up every sample, whichever features it uses") {
  for (unsigned unused = 0; unused < feature_count; ++unused) {
    ContextSample sample = made_sample(500, false);
    for (Features& features : sample.features) features[unused] = 0;
    ContextSums expected;
    for (std::size_t k = 0; k < sample.features.size(); ++k) {
      const std::int32_t sum = weighted_sum(default_weights, sample.features[k]);
      expected.add(sample.features[k], sample.magnitudes[k], context_fit_weight(sum));
    }
    const ContextSums sums = context_sums(sample, default_weights);
    CHECK(sums.matrix == expected.matrix);
    CHECK(sums.right == expected.right);
  }
}

TEST_CASE("sums of context fits do not overflow") {
  // Nothing is heavier than an estimate of 0.
  const FeatureWeights nothing{};
  CHECK(context_fit_weight(0) < std::int64_t{1} << 26);
  CHECK(context_fit_weight(std::numeric_limits<std::int32_t>::min()) == context_fit_weight(0));
  CHECK(context_fit_weight(std::numeric_limits<std::int32_t>::max()) == 1);
  const ContextSums sums = context_sums(made_sample(16384, true), nothing);
  const double expected =
      16384.0 * static_cast<double>(context_fit_weight(0)) * max_slope * max_slope;
  CHECK(expected < 9.2e18);
  CHECK(agree(static_cast<double>(sums.matrix[1][1]), expected));
}

TEST_CASE("a context fit finds the weights that magnitudes were made with") {
  ContextSample sample = made_sample(5000, false);
  const FeatureWeights truth{200, 900, 300, 500, 100, 20, 10, 30};
  for (std::size_t k = 0; k < sample.features.size(); ++k) {
    const std::int32_t sum = weighted_sum(truth, sample.features[k]);
    sample.magnitudes[k] = static_cast<std::uint8_t>((sum + (1 << 13)) >> feature_weight_bits);
  }
  FeatureWeights weights = default_weights;
  for (int round = 0; round < 4; ++round) REQUIRE(solve(context_sums(sample, weights), weights));
  for (unsigned i = 1; i < feature_count; ++i) {
    CHECK(std::abs(weights.at(i) - truth.at(i)) <= 20);
  }
}

}  // namespace cuszi::test

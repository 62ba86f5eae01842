#include "tests/gpu/core_steps.hpp"

#include "tests/gpu/device.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lattices.hpp"

// Core's functions of one point, which the CPU's rows and a GPU's kernels share, say the same of
// every point on the host and on the device. That nvcc takes them shows without a device, too.

namespace cuszi::test {

TEMPLATE_TEST_CASE("core says the same of a point on the host and on the device", "", float,
                   double) {
  if (device() == nullptr) return;
  Random random(8);
  for (int i = 0; i < 25; ++i) {
    const RandomLattice lattice = random_lattice(random);
    INFO(lattice.to_string());
    const auto frame = plan_frame<TestType>(lattice.params, -1, 2);
    std::vector<TestType> values;
    std::vector<std::uint8_t> magnitudes;
    for (std::uint64_t k = 0; k < lattice.dims.count(); ++k) {
      values.push_back(static_cast<TestType>(random.uniform() - 0.3));
      magnitudes.push_back(static_cast<std::uint8_t>(random.below(1 + max_magnitude)));
    }
    for (const ClassPlan<TestType>& plan : frame.classes) {
      const auto steps = steps_on_device<TestType>(frame.grid, plan, {}, values, magnitudes);
      for (std::uint64_t k = 0; k < steps.size(); ++k) {
        const auto expected =
            steps_of(frame.grid, plan, {}, plan.points.start + k, values.data(), magnitudes.data());
        REQUIRE(steps[k].at == expected.at);
        REQUIRE(steps[k].code_position == expected.code_position);
        REQUIRE(steps[k].prediction == expected.prediction);
        REQUIRE(steps[k].features == expected.features);
        REQUIRE(steps[k].context == expected.context);
        REQUIRE(steps[k].observed.is_used == expected.observed.is_used);
        REQUIRE(steps[k].observed.curvature == expected.observed.curvature);
        REQUIRE(steps[k].observed.target == expected.observed.target);
        for (unsigned u = 0; u + 1 < plan.stencil.size; ++u) {
          REQUIRE(steps[k].observation.at(u) == expected.observation.at(u));
        }
      }
    }
  }
}

TEST_CASE("fits are the same on the host and on the device") {
  if (device() == nullptr) return;
  Random random(9);
  for (int i = 0; i < 20; ++i) {
    StencilEquations equations;
    equations.unknowns = static_cast<unsigned>(1 + random.below(most_unknowns));
    for (unsigned row = 0; row < equations.unknowns; ++row) {
      equations.right.at(row) = random.uniform() - 0.5;
      for (unsigned k = row; k < equations.unknowns; ++k) equations.at(row, k) = random.uniform();
      equations.at(row, row) += equations.unknowns;
    }
    const SolvedRound host = solve_round(equations);
    const SolvedRound round = solve_on_device(equations);
    REQUIRE(host.is_solved);
    CHECK(round.is_solved);
    CHECK(round.shares == host.shares);
    CHECK(round.coefficients == host.coefficients);

    std::vector<Features> features(5000);
    std::vector<std::uint8_t> magnitudes;
    ContextSums sums;
    for (Features& each : features) {
      for (auto& f : each) f = static_cast<std::int32_t>(random.below(max_slope + 1));
      magnitudes.push_back(static_cast<std::uint8_t>(random.below(1 + max_magnitude)));
      sums.add(each, magnitudes.back(), context_fit_weight(weighted_sum(default_weights, each)));
    }
    const ContextSums other = context_sums_on_device(features, magnitudes, default_weights);
    CHECK(other.matrix == sums.matrix);
    CHECK(other.right == sums.right);
  }
}

}  // namespace cuszi::test

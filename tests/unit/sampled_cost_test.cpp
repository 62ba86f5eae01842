#include "core/tuning/sampled_cost.hpp"

#include <cmath>

#include "core/multilevel/class_plan.hpp"
#include "core/multilevel/code_position.hpp"
#include "core/tuning/fit_sample.hpp"
#include "cpu_ref/tuning/trials.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lattices.hpp"

namespace cuszi::test {

namespace {

/// Waves along all axes, with noise and here and there nothing.
template <class T>
std::vector<T> wavy_values(Random& random, std::uint64_t points) {
  std::vector<T> values;
  for (std::uint64_t i = 0; i < points; ++i) {
    const auto x = static_cast<double>(i);
    values.push_back(static_cast<T>(std::sin(x / 9) + 0.1 * random.uniform()));
    if (random.one_in(300)) values.back() = std::numeric_limits<T>::quiet_NaN();
  }
  return values;
}

/// What core says of a class, point by point.
template <class T>
ClassErrors expected_errors(const FramePlan<T>& frame, const ClassPlan<T>& plan,
                            const MultilevelParams& params, const std::vector<T>& values) {
  const PointClass& points = plan.points;
  const double bound = fit_bound(params, points.level);
  const std::uint64_t wanted = sampled_cost_points(points.points(), values.size());
  cpu::Observations sample(plan.stencil.size == 0 ? 0 : plan.stencil.size - 1U, wanted);
  for (std::uint64_t k = 0; k < wanted; ++k) {
    const Index4 at =
        position_of(points, raster_point(points, sampled_point(k, wanted, points.points())));
    const PointAt<const T*> p{frame.grid, points, at, values.data() + offset_of(frame.grid, at)};
    double* const row = sample.row(k / sum_lanes, 0) + k % sum_lanes;
    Observation seen = observe(plan.stencil, p, *p.value, row, sum_lanes);
    if (seen.is_used && plan.stencil.size == 0) seen.target -= static_cast<double>(plan.background);
    sample.set(k, seen, bound);
  }
  sample.make_bins();
  return errors_of(sample, plan.stencil, points, bound, params.half_step);
}

/// The errors of all classes of a lattice whose sums are those of one size.
std::vector<ClassErrors> even_errors(const MultilevelParams& params, double size) {
  std::vector<ClassErrors> classes(make_schedule(params.lattice).classes.size());
  for (ClassErrors& c : classes) {
    c.errors[0] = {100, static_cast<std::uint64_t>(100 * size * error_sizes_per_bound)};
    c.noise_gain = 0.5;
  }
  return classes;
}

}  // namespace

TEMPLATE_TEST_CASE("sampled costs sum up what core says of each point", "[unsanitized]", float,
                   double) {
  Random random(11);
  std::uint64_t compared = 0;
  for (int i = 0; i < 60; ++i) {
    const RandomLattice lattice = random_lattice(random);
    INFO(lattice.to_string());
    const auto values = wavy_values<TestType>(random, lattice.dims.count());
    const Mask mask;
    const cpu::FrameInput<TestType> frame{lattice.dims.as_3d(), values, mask, -1, 1.1};
    const auto found =
        cpu::sampled_errors_of(std::span(&lattice.params, 1), frame, values.data()).front();
    const auto plan = plan_frame<TestType>(lattice.params, -1, 1.1);
    REQUIRE(found.size() == plan.classes.size());
    for (std::size_t c = 0; c < found.size(); ++c) {
      const ClassErrors expected = expected_errors(plan, plan.classes[c], lattice.params, values);
      CHECK(found[c].coefficients == expected.coefficients);
      CHECK(found[c].noise_gain == expected.noise_gain);
      for (std::size_t d = 0; d < expected.errors.size(); ++d) {
        CHECK(found[c].errors[d].count == expected.errors[d].count);
        CHECK(found[c].errors[d].size == expected.errors[d].size);
        compared += expected.errors[d].count;
      }
    }
  }
  CHECK(compared > 10'000);
}

TEST_CASE("sampled costs say of a candidate what they say of it alone", "[unsanitized]") {
  Random random(12);
  const RandomLattice lattice = random_lattice(random);
  const auto values = wavy_values<float>(random, lattice.dims.count());
  const Mask mask;
  const cpu::FrameInput<float> frame{lattice.dims.as_3d(), values, mask, -1, 1.1};
  std::vector<MultilevelParams> candidates;
  for (const int reach : {5, 3, 7}) {
    for (const std::uint8_t alpha : {std::uint8_t{80}, std::uint8_t{64}}) {
      candidates.push_back(lattice.params);
      candidates.back().reach = reach;
      candidates.back().alpha = alpha;
      candidates.back().coefficients.clear();  // they would be of another reach
    }
  }
  std::swap(candidates[1], candidates[2]);  // two that differ in reach alone
  const auto together = cpu::sampled_errors_of<float>(candidates, frame, values.data());
  REQUIRE(together.size() == candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto alone =
        cpu::sampled_errors_of<float>(std::span(&candidates[i], 1), frame, values.data()).front();
    REQUIRE(together[i].size() == alone.size());
    for (std::size_t c = 0; c < alone.size(); ++c) {
      CHECK(together[i][c].coefficients == alone[c].coefficients);
      for (std::size_t d = 0; d < alone[c].errors.size(); ++d) {
        CHECK(together[i][c].errors[d].size == alone[c].errors[d].size);
      }
    }
  }
}

TEST_CASE("larger errors cost more in sampled costs, by a bit for each octave in the end") {
  RandomLattice lattice{Dims{64, 64}, {}};
  lattice.params.lattice = Lattice::of(lattice.dims, false, {});
  lattice.params.half_step = 1e-3;
  const Schedule schedule = make_schedule(lattice.params.lattice);
  Cost before = 0;
  for (double size = 1.0 / 32; size < 1e4; size *= 2) {
    const Cost cost = sampled_cost(lattice.params, schedule, even_errors(lattice.params, size));
    CHECK(cost >= before);
    if (size > 300) {
      const double bits = static_cast<double>(cost - before) / (1 << cost_bits) / 4096;
      CHECK(std::abs(bits - 1) < 0.02);
    }
    before = cost;
  }
}

}  // namespace cuszi::test

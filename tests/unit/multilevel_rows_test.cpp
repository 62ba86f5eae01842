#include "cpu_ref/multilevel/context_rows.hpp"
#include "cpu_ref/multilevel/row_predictor.hpp"
#include "cpu_ref/tuning/class_samples.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lattices.hpp"
#include "tests/support/sanitized.hpp"

// The loops of the reference work on rows, where core says what one point gets: prediction() and
// features_of(). Every row of random schedules is done both ways and compared bit by bit. So a row
// path that adds up taps in another order, forgets a border or counts a feature twice fails here:
// doubling the gradient in RowFeatures::weigh_slopes, for one, breaks the second test alone.

namespace cuszi::test {

namespace {

constexpr std::uint64_t lattices = sanitized ? 50 : 250;

using cpu::Known;
using cpu::Row;

/// Random values and magnitudes of codes of a frame. Values have few bits in common, so that
/// another order of sums shows.
template <class T>
struct RandomValues {
  std::vector<T> values;
  std::vector<std::uint8_t> magnitudes;

  RandomValues(Random& random, std::uint64_t points) {
    const double scale = random.pick({1e-3, 1.0, 1e6});
    for (std::uint64_t i = 0; i < points; ++i) {
      values.push_back(static_cast<T>(scale * (random.uniform() - 0.3)));
      magnitudes.push_back(static_cast<std::uint8_t>(random.below(1 + max_magnitude)));
    }
    magnitudes.resize(points + cpu::magnitudes_room, 0xFF);
  }
};

template <class T>
PointAt<const T*> point_of_row(const FramePlan<T>& frame, const ClassPlan<T>& plan, const Row& row,
                               std::size_t k, const T* values) {
  Index4 at = row.at;
  at[3] += k * plan.points.step[3];
  return {frame.grid, plan.points, at, values + offset_of(frame.grid, at)};
}

/// Calls visit(pass, class, row) for all rows of a frame.
template <class T, class Visit>
void for_each_row(const FramePlan<T>& frame, const Visit& visit) {
  for (const Pass& pass : frame.passes) {
    for (const ClassPlan<T>& plan : frame.classes_of(pass)) {
      for (const cpu::Task& task : cpu::tasks_of(std::span(&plan, 1))) {
        cpu::for_each_row_of_task(task, plan.points, frame.grid,
                                  [&](const Row& row) { visit(plan, row); });
      }
    }
  }
}

FeatureWeights random_weights(Random& random) {
  FeatureWeights weights{};
  for (std::int16_t& w : weights) {
    if (!random.one_in(4)) w = static_cast<std::int16_t>(random.below(65536));
  }
  return weights;
}

}  // namespace

TEMPLATE_TEST_CASE("rows are predicted as core predicts their points", "[unsanitized]", float,
                   double) {
  Random random(5);
  std::uint64_t compared = 0;
  for (std::uint64_t i = 0; i < lattices; ++i) {
    const RandomLattice lattice = random_lattice(random);
    INFO(lattice.to_string());
    const auto frame = plan_frame<TestType>(lattice.params, -1, 2);
    const RandomValues<TestType> random_values(random, lattice.dims.count());
    const TestType* const values = random_values.values.data();
    for_each_row(frame, [&](const ClassPlan<TestType>& plan, const Row& row) {
      TestType predicted[cpu::row_points];
      cpu::RowPredictor<TestType>(frame, plan).predict(values, row, predicted);
      for (std::size_t k = 0; k < row.count; ++k) {
        const auto p = point_of_row(frame, plan, row, k, values);
        REQUIRE_EACH(predicted[k] == prediction(plan, p));
        ++compared;
      }
    });
  }
  CHECK(compared > 400 * lattices);
}

TEMPLATE_TEST_CASE("what is near the background value rests", "", float, double) {
  ClassPlan<TestType> plan;
  plan.background = 3;
  CHECK(snapped(plan, TestType{3.0625}) == TestType{3.0625});
  plan.snap = static_cast<TestType>(0.125);
  for (const double near : {2.9375, 3.0, 3.0625}) CHECK(snapped(plan, TestType(near)) == 3);
  for (const double far : {2.875, 3.125, -3.0}) {
    CHECK(snapped(plan, TestType(far)) == TestType(far));
  }
  constexpr auto infinity = std::numeric_limits<TestType>::infinity();
  CHECK(snapped(plan, infinity) == infinity);
  CHECK(std::isnan(snapped(plan, std::numeric_limits<TestType>::quiet_NaN())));
}

TEMPLATE_TEST_CASE("rows get the estimates that core gives their points", "[unsanitized]", float,
                   double) {
  Random random(6);
  std::uint64_t compared = 0;
  for (std::uint64_t i = 0; i < lattices; ++i) {
    const RandomLattice lattice = random_lattice(random);
    INFO(lattice.to_string());
    const auto frame = plan_frame<TestType>(lattice.params, -1, 2);
    const RandomValues<TestType> random_values(random, lattice.dims.count());
    const Known<TestType> known{random_values.values.data(), random_values.magnitudes.data()};
    const FeatureWeights weights = random_weights(random);
    for_each_row(frame, [&](const ClassPlan<TestType>& plan, const Row& row) {
      std::int32_t sums[cpu::row_points];
      cpu::RowFeatures<TestType>(frame.grid, plan).weigh(known, row, weights, sums);
      for (std::size_t k = 0; k < row.count; ++k) {
        const auto p = point_of_row(frame, plan, row, k, known.values);
        const Features features = features_of(plan, p, known.magnitudes + (p.value - known.values));
        REQUIRE_EACH(sums[k] == weighted_sum(weights, features));
        ++compared;
      }
    });
  }
  CHECK(compared > 400 * lattices);
}

TEMPLATE_TEST_CASE("points of a class are observed as core observes them", "[unsanitized]", float,
                   double) {
  Random random(8);
  std::uint64_t taking_part = 0;
  for (int i = 0; i < 250; ++i) {
    const RandomLattice lattice = random_lattice(random);
    INFO(lattice.to_string());
    const auto frame = plan_frame<TestType>(lattice.params, -1, 2);
    RandomValues<TestType> random_values(random, lattice.dims.count());
    random_values.values[random.below(lattice.dims.count())] =
        std::numeric_limits<TestType>::quiet_NaN();
    const TestType* const values = random_values.values.data();
    for (const ClassPlan<TestType>& plan : frame.classes) {
      const std::uint64_t wanted = plan.points.points();
      cpu::StencilObserver<TestType> view(plan.points, plan.stencil, plan.stencil, wanted);
      cpu::sample_class(frame.grid, plan, wanted, 1e-3, values, std::span(&view, 1));
      const cpu::Observations sample = view.finish();
      for (std::uint64_t k = 0; k < wanted; ++k) {
        const Index4 at = position_of(plan.points, raster_point(plan.points, k));
        const TestType* const value = values + offset_of(frame.grid, at);
        Shares row{};
        const Observation seen =
            observe(plan.stencil, PointAt<const TestType*>{frame.grid, plan.points, at, value},
                    *value, row.data(), 1);
        const std::size_t block = k / sum_lanes;
        const std::size_t lane = k % sum_lanes;
        REQUIRE((sample.taking_part(block)[lane] != 0) == seen.is_used);
        REQUIRE(sample.targets(block)[lane] == seen.target);
        for (unsigned u = 0; u < sample.unknowns(); ++u) {
          REQUIRE(sample.row(block, u)[lane] == row.at(u));
        }
        taking_part += seen.is_used ? 1 : 0;
      }
    }
  }
  CHECK(taking_part > 100'000);
}

TEST_CASE("the exponent of an estimate is its bucket") {
  const auto check = [](std::int64_t sum) {
    const auto weighted_sum = static_cast<std::int32_t>(sum);
    REQUIRE(bucket_by_exponent(weighted_sum) == bucket_of(weighted_sum));
  };
  for (std::int64_t sum = -1000; sum < 1'000'000; ++sum) check(sum);
  for (int bits = 0; bits < 32; ++bits) {
    for (const std::int64_t near : {-65, -64, -1, 0, 63, 64}) {
      const std::int64_t power = (std::int64_t{1} << bits) + near;
      if (power <= std::numeric_limits<std::int32_t>::max()) check(power);
      check(-std::min<std::int64_t>(power, std::int64_t{1} << 31));
    }
  }
}

TEST_CASE("rows stand in their pass where core says") {
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    const RandomLattice lattice = random_lattice(random);
    INFO(lattice.to_string());
    const auto frame = plan_frame<float>(lattice.params, 0, 1);
    for_each_row(frame, [&](const ClassPlan<float>& plan, const Row& row) {
      cpu::for_each_run(row, plan.points, frame.grid,
                        [&](std::size_t k, std::uint64_t code_position, std::uint64_t n) {
                          for (std::uint64_t m = 0; m < n; ++m) {
                            const Index4 j =
                                point_at_code_position(frame.grid, plan.points, code_position + m);
                            Index4 at = row.at;
                            at[3] += (k + m) * plan.points.step[3];
                            REQUIRE(position_of(plan.points, j) == at);
                          }
                        });
    });
  }
}

}  // namespace cuszi::test

#include "core/tuning/approximate_reconstruction.hpp"

#include "core/tuning/observation.hpp"
#include "cpu_ref/multilevel/lattice_rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lattices.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

/// A frame of random values and what its approximation is made of.
template <class T>
struct MadeReconstruction {
  Schedule schedule;
  FramePlan<T> plan;
  std::vector<std::uint32_t> classes;
  std::vector<Quantizer<T>> quantizers;
  std::vector<T> values;
  ApproximateReconstruction<T> approximation;

  MadeReconstruction(const RandomLattice& lattice, Random& random)
      : schedule(make_schedule(lattice.params.lattice)),
        plan(plan_frame<T>(lattice.params, -1, 2)),
        classes(classes_by_slot(ClassFinder(lattice.params.lattice), schedule)),
        quantizers(level_quantizers<T>(lattice.params, -1, 2)),
        values(random_values(lattice.dims.count(), random)),
        approximation{plan.grid,         ClassFinder(lattice.params.lattice),
                      classes.data(),    plan.classes.data(),
                      quantizers.data(), values.data(),
                      nullptr,           std::numeric_limits<int>::max()} {}

  static std::vector<T> random_values(std::uint64_t count, Random& random) {
    std::vector<T> values;
    for (std::uint64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(random.uniform()));
    return values;
  }
};

template <class Visit>
void for_each_point(const PointClass& points, const Visit& visit) {
  for (std::uint64_t i = 0; i < points.points(); ++i) {
    visit(position_of(points, raster_point(points, i)));
  }
}

}  // namespace

TEST_CASE("every point's class is found by its coordinates") {
  Random random(21);
  for (int i = 0; i < 200; ++i) {
    const RandomLattice lattice = random_lattice(random);
    if (lattice.params.lattice.finest != 1) continue;
    INFO(lattice.to_string());
    const Schedule schedule = make_schedule(lattice.params.lattice);
    const ClassFinder finder(lattice.params.lattice);
    const std::vector<std::uint32_t> classes = classes_by_slot(finder, schedule);
    for (const PointClass& points : schedule.classes) {
      for_each_point(points, [&](const Index4& at) {
        REQUIRE(classes.at(finder.slot_of(at)) == points.index);
      });
    }
  }
}

TEMPLATE_TEST_CASE("a simulated value is the prediction from originals, its error quantised", "",
                   float, double) {
  Random random(22);
  constexpr std::uint64_t lattices = sanitized ? 30 : 150;
  std::uint64_t moved = 0;
  for (std::uint64_t i = 0; i < lattices; ++i) {
    const RandomLattice lattice = random_lattice(random);
    if (lattice.params.lattice.finest != 1) continue;
    INFO(lattice.to_string());
    MadeReconstruction<TestType> made(lattice, random);
    for (const ClassPlan<TestType>& c : made.plan.classes) {
      for_each_point(c.points, [&](const Index4& at) {
        const std::uint64_t point = offset_of(made.plan.grid, at);
        const TestType value = made.values[point];
        const TestType simulated = made.approximation.value(point);
        REQUIRE_EACH(*ApproximateValues<TestType>(made.approximation, point) == simulated);
        if (c.stencil.size == 0) {
          REQUIRE_EACH(simulated == value);
          return;
        }
        const PointAt<const TestType*> p{made.plan.grid, c.points, at, made.values.data() + point};
        const auto attempt =
            try_to_quantise(made.quantizers[c.points.level], value, prediction(c, p));
        REQUIRE_EACH(simulated == (attempt.in_range ? attempt.result.restored : value));
        moved += simulated == value ? 0 : 1;
      });
    }
  }
  CHECK(moved > 7 * lattices);
}

TEST_CASE("values that have been made already are read") {
  Random random(23);
  const Dims dims{16, 16, 16};
  MultilevelParams params;
  params.lattice = Lattice::of(dims, false, {});
  params.half_step = 1e-2;
  RandomLattice lattice = random_lattice(random);
  lattice.dims = dims;
  lattice.params = params;
  MadeReconstruction<float> made(lattice, random);
  const std::vector<float> sevens(dims.count(), 7);
  made.approximation.made = sevens.data();
  made.approximation.made_from = 2;
  CHECK(made.approximation.value(0) == 7);
  CHECK(made.approximation.value(2 * 16 * 16) == 7);
  CHECK(made.approximation.value(1) != 7);
  const float missing = std::numeric_limits<float>::quiet_NaN();
  made.values[1] = missing;
  CHECK(std::isnan(made.approximation.value(1)));
  made.values[2] = missing;  // a neighbour of 3: the original stands in
  CHECK(made.approximation.value(3) == made.values[3]);
}

TEMPLATE_TEST_CASE("neighbours that are said to be made are read where they are", "", float,
                   double) {
  using T = TestType;
  Random random(24);
  constexpr std::uint64_t lattices = sanitized ? 30 : 150;
  std::uint64_t made_classes = 0;
  std::uint64_t other_classes = 0;
  for (std::uint64_t i = 0; i < lattices; ++i) {
    const RandomLattice lattice = random_lattice(random);
    if (lattice.params.lattice.finest != 1) continue;
    INFO(lattice.to_string());
    const MadeReconstruction<T> anew(lattice, random);
    std::vector<T> coarse(anew.values.size(), std::numeric_limits<T>::quiet_NaN());
    for (const ClassPlan<T>& c : anew.plan.classes) {
      for_each_point(c.points, [&](const Index4& at) {
        const std::uint64_t point = offset_of(anew.plan.grid, at);
        if (c.points.level >= 2) coarse[point] = anew.approximation.value(point);
      });
    }
    ApproximateReconstruction<T> approximation = anew.approximation;
    approximation.made = coarse.data();
    approximation.made_from = 2;
    for (const ClassPlan<T>& c : anew.plan.classes) {
      const auto taps = c.stencil.all();
      const bool all_made = std::all_of(taps.begin(), taps.end(), [&](const Tap& tap) {
        return approximation.has_made(c.points, tap);
      });
      ++(all_made ? made_classes : other_classes);
      if (!all_made) continue;
      for_each_point(c.points, [&](const Index4& at) {
        const std::uint64_t point = offset_of(anew.plan.grid, at);
        const T* const values = coarse.data() + point;
        if (is_at_edge(PointAt<const T*>{anew.plan.grid, c.points, at, values})) return;
        const GroupSums read(c, anew.plan.grid, at, values);
        const GroupSums made(c, anew.plan.grid, at,
                             ApproximateValues<T>(anew.approximation, point));
        for (unsigned g = 0; g < c.stencil.size; ++g) REQUIRE_EACH(read(g) == made(g));
      });
    }
  }
  CHECK(made_classes > 3 * lattices);
  CHECK(other_classes > lattices / 2);
}

}  // namespace cuszi::test

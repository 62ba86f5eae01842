#include "core/multilevel/multilevel.hpp"

#include <numeric>

#include "core/multilevel/class_plan.hpp"
#include "core/multilevel/code_position.hpp"
#include "core/multilevel/stencil.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

MultilevelParams params_for(const Dims& dims, std::optional<AxisChoice> axes = std::nullopt) {
  PredictorConfig config;
  config.multilevel.axes = axes;
  MultilevelParams params = MultilevelParams::draft(config, dims);
  params.half_step = 1e-3;
  return params;
}

/// Calls visit(point) for every point of a class.
template <class Visit>
void for_each_point(const Grid& grid, const PointClass& points, const Visit& visit) {
  for (std::uint64_t i = 0; i < points.points(); ++i) {
    const Index4 at = position_of(points, raster_point(points, i));
    visit(at, offset_of(grid, at));
  }
}

const std::vector<Dims> many_dims{{1},     {2},         {700},        {1, 9},       {33, 17},
                                  {5, 64}, {9, 10, 11}, {40, 20, 30}, {3, 4, 5, 6}, {2, 9, 17, 8}};

const std::vector<std::optional<AxisChoice>> many_axes{
    std::nullopt, AxisChoice{AxisRole::independent, 0}, AxisChoice{AxisRole::layered, 0}};

}  // namespace

TEST_CASE("the classes of a schedule hold every point once") {
  for (const Dims& dims : many_dims) {
    for (const auto& axes : many_axes) {
      INFO(dims.to_string() << " role " << (axes ? static_cast<int>(axes->role) : 0));
      const Schedule schedule = make_schedule(params_for(dims, axes).lattice);
      std::vector<int> seen(dims.count(), 0);
      for (const Pass& pass : schedule.passes) {
        std::uint64_t points = 0;
        for (const PointClass& c : schedule.classes_of(pass)) {
          CHECK(c.start == points);
          points += c.points();
          for_each_point(schedule.grid, c, [&](const Index4&, std::uint64_t p) { ++seen[p]; });
        }
        CHECK(points == pass.points);
      }
      CHECK(seen == std::vector<int>(dims.count(), 1));
    }
  }
}

TEST_CASE("whatever a pass looks at is known before it starts", "[unsanitized]") {
  for (const Dims& dims : many_dims) {
    for (const auto& axes : many_axes) {
      MultilevelParams params = params_for(dims, axes);
      params.reach = 7;
      const Schedule schedule = make_schedule(params.lattice);
      // NaN is contagious: what is not known yet would show in sums.
      std::vector<double> known(dims.count(), std::numeric_limits<double>::quiet_NaN());
      for (const Pass& pass : schedule.passes) {
        for (const PointClass& c : schedule.classes_of(pass)) {
          const Stencil stencil = stencil_of(params.lattice, params.reach, c);
          const ContextTaps taps = context_taps_of(params.lattice, c);
          for_each_point(schedule.grid, c, [&](const Index4& at, std::uint64_t point) {
            const PointAt<const double*> p{schedule.grid, c, at, known.data() + point};
            double sum = 0;
            if (is_at_edge(p)) {
              sum += edge_prediction(p);
            } else {
              for (unsigned g = 0; g < stencil.size; ++g) {
                sum += group_sum(p, stencil.taps.data() + stencil.begin(g), stencil.taps_of(g));
              }
            }
            for (const Tap& tap : taps.all()) sum += *near_part(p, tap);
            REQUIRE(sum == sum);
          });
        }
        for (const PointClass& c : schedule.classes_of(pass)) {
          for_each_point(schedule.grid, c,
                         [&](const Index4&, std::uint64_t point) { known[point] = 1; });
        }
      }
    }
  }
}

TEST_CASE("weights of every class sum to one") {
  for (const Dims& dims : many_dims) {
    for (const auto& axes : many_axes) {
      const MultilevelParams params = params_for(dims, axes);
      for (const PointClass& c : make_schedule(params.lattice).classes) {
        const Stencil stencil = stencil_of(params.lattice, params.reach, c);
        const StencilWeights shares = params.shares_of(c, stencil);
        const double sum =
            std::accumulate(shares.begin(), shares.end(), stencil.size == 0 ? 1. : 0.);
        CHECK(std::abs(sum - 1) < 1e-12);
      }
    }
  }
}

TEST_CASE("planned classes have the taps that their own places ask for") {
  std::vector<Dims> all = many_dims;
  all.insert(all.end(), {Dims{17, 9}, Dims{129, 300}, Dims{5, 130, 67}, Dims{40, 9, 10, 33}});
  const auto are_same = [](const auto& a, const auto& b) {
    return a.taps == b.taps && a.begins == b.begins && a.size == b.size;
  };
  for (const Dims& dims : all) {
    for (const auto& axes : many_axes) {
      if (axes && dims.rank() < 2) continue;
      MultilevelParams params = params_for(dims, axes);
      for (const int reach : {3, 5, 7}) {
        params.reach = reach;
        const FramePlan<float> plan = plan_frame<float>(params, -1, 1);
        for (const ClassPlan<float>& c : plan.classes) {
          INFO(dims.to_string() << ", reach " << reach << ", class " << c.points.index);
          REQUIRE(are_same(c.stencil, stencil_of(params.lattice, reach, c.points)));
          REQUIRE(are_same(c.context_taps, context_taps_of(params.lattice, c.points)));
        }
      }
    }
  }
}

TEST_CASE("far values beyond the border continue a parabola") {
  const MultilevelParams params = params_for({40});
  const Schedule schedule = make_schedule(params.lattice);
  std::vector<double> values(40);
  const auto parabola = [](double x) { return 3 + 2 * x - 0.25 * x * x; };
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = parabola(static_cast<double>(i));
  const PointClass& finest = schedule.classes_of(schedule.passes.back()).front();
  for (const std::uint64_t x : {1U, 3U, 37U}) {
    const PointAt<const double*> p{schedule.grid, finest, {0, 0, 0, x}, values.data() + x};
    for (const int units : {-7, -5, -3, 3, 5, 7}) {
      CHECK(std::abs(far_value(p, 3, p.value, units) - parabola(static_cast<double>(x) + units)) <
            1e-9);
    }
  }
}

TEST_CASE("parameters with coefficients come back as written") {
  MultilevelParams params = params_for({20, 30, 40}, AxisChoice{AxisRole::layered, 1});
  params.reach = 5;
  params.alpha = 96;
  int next = -1500;
  for (const PointClass& c : make_schedule(params.lattice).classes) {
    const Stencil stencil = stencil_of(params.lattice, params.reach, c);
    Coefficients some(c.level % 2 == 0 ? 0U : stencil.size);
    if (!some.empty()) some.pop_back();
    for (std::int16_t& value : some) value = static_cast<std::int16_t>(next += 37);
    params.coefficients.push_back(some);
  }
  ByteWriter out;
  params.write(out);
  ByteReader in(out.view(), "parameters");
  const MultilevelParams read = MultilevelParams::read(in, {20, 30, 40}, DType::f32);
  in.expect_end();
  CHECK(read.lattice.roles == params.lattice.roles);
  CHECK(read.lattice.levels == params.lattice.levels);
  CHECK(read.reach == 5);
  CHECK(read.half_step_of(3) == params.half_step_of(3));
  CHECK(read.coefficients == params.coefficients);
}

TEST_CASE("a background value comes back as written, in no more bytes than it needs") {
  struct Case {
    std::uint8_t snap;
    double background;
    DType dtype;
    std::size_t bytes;  ///< more than without
  };
  MultilevelParams params = params_for({40});
  params.coefficients.resize(make_schedule(params.lattice).classes.size());
  ByteWriter without;
  params.write(without);
  for (const Case& c :
       {Case{8, 0, DType::f32, 0}, Case{16, 0.25, DType::f64, 4}, Case{1, -0.1, DType::f64, 8}}) {
    params.snap = c.snap;
    params.background = c.background;
    ByteWriter out;
    params.write(out);
    CHECK(out.size() == without.size() + c.bytes);
    ByteReader in(out.view(), "parameters");
    const MultilevelParams read = MultilevelParams::read(in, {40}, c.dtype);
    in.expect_end();
    CHECK(read.snap == c.snap);
    CHECK(read.background == c.background);
    CHECK(read.snap_radius_of(1) == params.half_step * c.snap / 16);
  }
}

TEST_CASE("background values that an encoder does not write are refused") {
  struct Case {
    std::uint8_t snap;
    double background;
    DType dtype;
  };
  MultilevelParams params = params_for({40});
  params.coefficients.resize(make_schedule(params.lattice).classes.size());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const Case& c :
       {Case{17, 0, DType::f32}, Case{8, 0.1, DType::f32}, Case{8, 1e300, DType::f32},
        Case{8, infinity, DType::f32}, Case{8, infinity, DType::f64}, Case{32, 0, DType::f64},
        Case{96, 0, DType::f64}}) {
    params.snap = c.snap;
    params.background = c.background;
    ByteWriter out;
    params.write(out);
    ByteReader in(out.view(), "parameters");
    CHECK_THROWS_AS(MultilevelParams::read(in, {40}, c.dtype), ArchiveError);
  }
}

TEST_CASE("axes that a field does not have are refused") {
  const AxisChoice third{AxisRole::layered, 2};
  CHECK_THROWS_AS(params_for({20, 30}, third), UsageError);
  CHECK_THROWS_AS(check_axes(third, {20, 30}), UsageError);
  CHECK_THROWS_AS(check_axes(third, {20, 30, 1}), UsageError);
  CHECK_NOTHROW(check_axes(third, {20, 1, 30}));
  CHECK_NOTHROW(check_axes({AxisRole::lattice, 0}, {1, 30}));
}

TEST_CASE("a forced axis is one of the field's dims, in every frame") {
  using enum AxisRole;
  const AxisChoice second{layered, 1};
  const auto roles = [&](const Dims& dims) { return params_for(dims, second).lattice.roles; };
  using Roles = std::array<AxisRole, max_axes>;
  CHECK(roles({20, 30, 40}) == Roles{lattice, lattice, layered, lattice});
  CHECK(roles({1, 30, 40}) == Roles{lattice, lattice, layered, lattice});
  CHECK(roles({20, 1, 40}) == Roles{});
  CHECK(roles({9, 20, 30, 40}) == Roles{independent, layered, lattice, lattice});
  CHECK(roles({1, 20, 30, 40}) == Roles{lattice, layered, lattice, lattice});
}

}  // namespace cuszi::test

#include "core/multilevel.hpp"

#include <set>

#include "core/stencil.hpp"
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
    std::uint64_t rest = i;
    std::uint64_t point = 0;
    Index4 at{};
    for (unsigned axis = max_axes; axis-- > 0; rest /= points.count[axis]) {
      at[axis] = points.first[axis] + rest % points.count[axis] * points.step[axis];
      point += at[axis] * grid.strides[axis];
    }
    visit(at, point);
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
      const Schedule schedule = make_schedule(params_for(dims, axes));
      std::vector<int> seen(dims.count(), 0);
      for (const Pass& pass : schedule.passes) {
        std::uint64_t points = 0;
        for (const PointClass& c : pass.classes) {
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

TEST_CASE("whatever a pass looks at is known before it starts") {
  for (const Dims& dims : many_dims) {
    for (const auto& axes : many_axes) {
      MultilevelParams params = params_for(dims, axes);
      params.reach = 7;
      const Schedule schedule = make_schedule(params);
      // NaN is contagious: what is not known yet would show in sums.
      std::vector<double> known(dims.count(), std::numeric_limits<double>::quiet_NaN());
      for (const Pass& pass : schedule.passes) {
        for (const PointClass& c : pass.classes) {
          const auto stencil = stencil_of(params, c);
          const EnergyTaps energy = energy_taps(params, c);
          for_each_point(schedule.grid, c, [&](const Index4& at, std::uint64_t point) {
            const PointAt<const double*> p{schedule.grid, c, at, known.data() + point};
            double sum = 0;
            if (is_at_edge(p))
              sum += edge_prediction(p);
            else
              for (const TapGroup& g : stencil) sum += group_sum(p, g.data(), g.size());
            for (const TapGroup& g : {energy.direct, energy.diagonal, energy.parent,
                                      energy.same_point, energy.slices}) {
              for (const Tap& tap : g) sum += *near_part(p, tap);
            }
            REQUIRE(sum == sum);
          });
        }
        for (const PointClass& c : pass.classes) {
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
      for (const Pass& pass : make_schedule(params).passes) {
        for (const PointClass& c : pass.classes) {
          const auto stencil = stencil_of(params, c);
          const auto weights = tap_weights(params, c, stencil);
          double sum = stencil.empty() ? 1 : 0;
          for (std::size_t g = 0; g < stencil.size(); ++g) {
            sum += weights[g] * static_cast<double>(stencil[g].size());
          }
          CHECK(std::abs(sum - 1) < 1e-12);
        }
      }
    }
  }
}

TEST_CASE("far values beyond the border continue a parabola") {
  const MultilevelParams params = params_for({40});
  const Schedule schedule = make_schedule(params);
  std::vector<double> values(40);
  const auto parabola = [](double x) { return 3 + 2 * x - 0.25 * x * x; };
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = parabola(static_cast<double>(i));
  const PointClass& finest = schedule.passes.back().classes.front();
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
  for (const Pass& pass : make_schedule(params).passes) {
    for (const PointClass& c : pass.classes) {
      Coefficients some(c.level % 2 == 0 ? 0 : stencil_of(params, c).size());
      if (!some.empty()) some.pop_back();
      for (std::int16_t& value : some) value = static_cast<std::int16_t>(next += 37);
      params.coefficients.push_back(some);
    }
  }
  ByteWriter out;
  params.write(out);
  ByteReader in(out.view(), "parameters");
  const MultilevelParams read = MultilevelParams::read(in, {20, 30, 40}, DType::f32);
  in.expect_end();
  CHECK(read.roles == params.roles);
  CHECK(read.levels == params.levels);
  CHECK(read.reach == 5);
  CHECK(read.half_step_of(3) == params.half_step_of(3));
  CHECK(read.coefficients == params.coefficients);
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
  const auto roles = [&](const Dims& dims) { return params_for(dims, second).roles; };
  using Roles = std::array<AxisRole, max_axes>;
  CHECK(roles({20, 30, 40}) == Roles{lattice, lattice, layered, lattice});
  CHECK(roles({1, 30, 40}) == Roles{lattice, lattice, layered, lattice});
  CHECK(roles({20, 1, 40}) == Roles{});
  CHECK(roles({9, 20, 30, 40}) == Roles{independent, layered, lattice, lattice});
  CHECK(roles({1, 20, 30, 40}) == Roles{lattice, layered, lattice, lattice});
}

}  // namespace cuszi::test

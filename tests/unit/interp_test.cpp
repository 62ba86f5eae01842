#include "core/interp/interp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/error.hpp"
#include "core/field/mask.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

/// How a point gets its value: along which axis, over which distance, with which weights.
struct Turn {
  int level;
  std::uint32_t axis;
  Spline<double> spline;
};

bool same_turn(const Turn& a, const Turn& b) {
  return a.level == b.level && a.axis == b.axis && a.spline.far_left == b.spline.far_left &&
         a.spline.left == b.spline.left && a.spline.right == b.spline.right &&
         a.spline.far_right == b.spline.far_right;
}

/// Calls each(point of the frame, turn, place in the box) in the order of the stages.
template <class Each>
void for_each_turn(const InterpParams& params, const Extents3& extents, const TileBox& tile,
                   const Each& each) {
  for (int level = params.levels(); level >= 1; --level) {
    for (int turn = 0; turn < 3; ++turn) {
      const InterpStage stage = interp_stage(params, tile.box, level, turn);
      const std::uint64_t points = std::uint64_t{stage.count[0]} * stage.count[1] * stage.count[2];
      for (std::uint64_t i = 0; i < points; ++i) {
        const Extents3 step = coordinates_of(i, {stage.count[0], stage.count[1], stage.count[2]});
        Extents3 at{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          at[axis] = tile.first[axis] + stage.first[axis] + step[axis] * stage.step[axis];
        }
        const auto place = static_cast<std::uint32_t>(at[stage.axis] - tile.first[stage.axis]);
        each(point_at(at, extents), Turn{level, stage.axis,
                                         spline_for<double>(params.cubic[stage.axis], place,
                                                            stage.spacing, tile.box[stage.axis])});
      }
    }
  }
}

bool is_anchor(const InterpParams& params, const Extents3& at) {
  return std::all_of(at.begin(), at.end(), [&](auto x) { return x % params.anchor == 0; });
}

InterpParams random_params(Random& random, const Extents3& extents) {
  PredictorConfig config;
  const std::uint32_t anchor = random.pick({2U, 4U, 8U, 16U});
  Extents3 tile{1, 1, 1};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (extents[axis] > 1) tile[axis] = anchor * (1 + random.below(3));
  }
  config.interp.anchor = anchor;
  config.interp.tile = tile;
  config.interp.order = random.pick<std::array<std::uint8_t, 3>>(
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}});
  config.interp.cubic = random.pick({Cubic::not_a_knot, Cubic::natural});
  return InterpParams::draft(config, extents);
}

Extents3 random_extents(Random& random) {
  const auto extent = [&] { return random.one_in(4) ? 1 : 1 + random.below(50); };
  return {extent(), extent(), extent()};
}

/// The prediction of x^degree at 0 from neighbours one apart.
double predict_power(const Spline<double>& spline, int degree) {
  const auto f = [&](double x) { return std::pow(x, degree); };
  return predict<double>(spline, f(-3), f(-1), f(1), f(3));
}

}  // namespace

TEST_CASE("the stages of a tile predict every point of its box but the anchors, once",
          "[unsanitized]") {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const Extents3 extents = random_extents(random);
    const InterpParams params = random_params(random, extents);
    const Extents3 grid = tile_grid(params, extents);
    const TileBox tile =
        tile_box(params, extents, coordinates_of(random.below(count_of(grid)), grid));
    std::map<std::uint64_t, int> visits;
    for_each_turn(params, extents, tile,
                  [&](std::uint64_t point, const Turn&) { ++visits[point]; });
    std::size_t anchors = 0;
    for (std::uint64_t p = 0; p < std::uint64_t{tile.box[0]} * tile.box[1] * tile.box[2]; ++p) {
      Extents3 at = coordinates_of(p, {tile.box[0], tile.box[1], tile.box[2]});
      for (std::size_t axis = 0; axis < 3; ++axis) at[axis] += tile.first[axis];
      const bool anchor = is_anchor(params, at);
      anchors += anchor ? 1 : 0;
      REQUIRE(visits[point_at(at, extents)] == (anchor ? 0 : 1));
    }
    REQUIRE(visits.size() == std::uint64_t{tile.box[0]} * tile.box[1] * tile.box[2]);
    REQUIRE(anchors > 0);
  }
}

TEST_CASE("the tiles own every point of a frame once", "[unsanitized]") {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const Extents3 extents = random_extents(random);
    const InterpParams params = random_params(random, extents);
    const Extents3 grid = tile_grid(params, extents);
    std::vector<int> owners(count_of(extents), 0);
    for (std::uint64_t t = 0; t < count_of(grid); ++t) {
      const TileBox tile = tile_box(params, extents, coordinates_of(t, grid));
      for (std::uint32_t z = 0; z < tile.own[0]; ++z) {
        for (std::uint32_t y = 0; y < tile.own[1]; ++y) {
          for (std::uint32_t x = 0; x < tile.own[2]; ++x) {
            ++owners[point_at({tile.first[0] + z, tile.first[1] + y, tile.first[2] + x}, extents)];
          }
        }
      }
    }
    REQUIRE(std::count(owners.begin(), owners.end(), 1) == std::ssize(owners));
  }
}

TEST_CASE("tiles that share a point predict it the same way", "[unsanitized]") {
  Random random(3);
  std::size_t shared = 0;
  for (int i = 0; i < 60; ++i) {
    const Extents3 extents = random_extents(random);
    const InterpParams params = random_params(random, extents);
    const Extents3 grid = tile_grid(params, extents);
    std::map<std::uint64_t, Turn> turns;
    for (std::uint64_t t = 0; t < count_of(grid); ++t) {
      const TileBox tile = tile_box(params, extents, coordinates_of(t, grid));
      for_each_turn(params, extents, tile, [&](std::uint64_t point, const Turn& turn) {
        const auto [known, fresh] = turns.try_emplace(point, turn);
        shared += fresh ? 0 : 1;
        REQUIRE(same_turn(known->second, turn));
      });
    }
  }
  CHECK(shared > 10'000);
}

TEST_CASE("splines use all neighbours that the line has") {
  const auto reach = [](std::uint32_t at, std::uint32_t size) {
    const auto s = spline_for<double>(Cubic::natural, at, 1, size);
    return std::array{s.far_left != 0, s.left != 0, s.right != 0, s.far_right != 0};
  };
  CHECK(reach(3, 9) == std::array{true, true, true, true});
  CHECK(reach(1, 9) == std::array{false, true, true, true});
  CHECK(reach(7, 9) == std::array{true, true, true, false});
  CHECK(reach(1, 3) == std::array{false, true, true, false});
  CHECK(reach(1, 2) == std::array{false, true, false, false});
  CHECK(reach(7, 8) == std::array{false, true, false, false});
}

TEST_CASE("splines reproduce the polynomials of their degree") {
  const auto exact_up_to = [](const Spline<double>& spline) {
    int degree = 0;
    while (degree < 10 &&
           std::fabs(predict_power(spline, degree) - (degree == 0 ? 1 : 0)) < 1e-12) {
      ++degree;
    }
    return degree - 1;
  };
  CHECK(exact_up_to(spline_for<double>(Cubic::not_a_knot, 3, 1, 9)) == 3);
  CHECK(exact_up_to(spline_for<double>(Cubic::natural, 3, 1, 9)) == 1);
  CHECK(exact_up_to(spline_for<double>(Cubic::natural, 1, 1, 9)) == 2);
  CHECK(exact_up_to(spline_for<double>(Cubic::natural, 7, 1, 9)) == 2);
  CHECK(exact_up_to(spline_for<double>(Cubic::natural, 1, 1, 3)) == 1);
  CHECK(exact_up_to(spline_for<double>(Cubic::natural, 1, 1, 2)) == 0);
}

TEST_CASE("predictions on a line read only neighbours of some weight") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> line{nan, 5, nan, nan, nan, 7, nan};
  const auto linear = spline_for<double>(Cubic::natural, 1, 1, 3);
  CHECK(predict_on_line(linear, line.data() + 3, 2) == 6);
  CHECK(predict_on_line(spline_for<double>(Cubic::natural, 1, 1, 2), line.data() + 3, 2) == 5);
}

TEST_CASE("sampled errors are those of interp", "[unsanitized]") {
  Random random(4);
  const MissingTest<double> missing{FillValues{}};
  for (int i = 0; i < 30; ++i) {
    const Extents3 extents = random_extents(random);
    const InterpParams params = random_params(random, extents);
    const auto field =
        make_values<double>(FieldKind::rough, {extents[0], extents[1], extents[2]}, 1);
    const Extents3 strides{extents[1] * extents[2], extents[2], 1};
    const Extents3 grid = tile_grid(params, extents);
    std::map<std::uint64_t, double> errors;
    for (std::uint64_t t = 0; t < count_of(grid); ++t) {
      const TileBox tile = tile_box(params, extents, coordinates_of(t, grid));
      for_each_turn(params, extents, tile, [&](std::uint64_t point, const Turn& turn) {
        const auto stride = static_cast<std::ptrdiff_t>(strides[turn.axis] << (turn.level - 1));
        errors[point] =
            std::fabs(field[point] - predict_on_line(turn.spline, field.data() + point, stride));
      });
    }
    for (std::uint64_t point = 0; point < count_of(extents); ++point) {
      const double error = sampled_interp_error(params, extents, field.data(),
                                                coordinates_of(point, extents), missing);
      const auto expected = errors.find(point);
      REQUIRE(error == (expected == errors.end() ? -1 : expected->second));
    }
  }
}

TEST_CASE("missing anchors are filled from their row") {
  const auto fill = [](std::vector<double> row, const std::vector<std::uint8_t>& missing) {
    fill_missing_anchors(row.data(), missing.data(), row.size(), 50.0);
    return row;
  };
  CHECK(fill({1, 2, 3}, {0, 0, 0}) == std::vector<double>{1, 2, 3});
  CHECK(fill({0, 2, 0, 0, 5}, {1, 0, 1, 1, 0}) == std::vector<double>{2, 2, 2, 2, 5});
  CHECK(fill({0, 0, 3}, {1, 1, 0}) == std::vector<double>{3, 3, 3});
  CHECK(fill({0, 0}, {1, 1}) == std::vector<double>{50, 50});
}

TEST_CASE("level-wise bounds shrink by alpha") {
  CHECK(alpha_for(1e-6) == 1);
  CHECK(alpha_for(1e-5) == 1);
  CHECK(alpha_for(1e-4) == 1.25);
  CHECK(alpha_for(1e-3) == 1.5);
  CHECK(alpha_for(1e-2) == 1.75);
  CHECK(alpha_for(1e-1) == 2);
  CHECK(alpha_for(0.5) == 2);
  CHECK(alpha_for(5.5e-3) == 1.625);

  FieldScan scan;
  scan.min = -1;
  scan.max = 1;
  InterpParams params = InterpParams::draft({}, {100, 100, 100});
  params.choose({}, scan, 2e-3, DType::f64);
  REQUIRE(params.levels() == 3);
  for (std::size_t level = 0; level < 3; ++level) {
    const double bound = 2e-3 / std::pow(1.5, static_cast<double>(level));
    CHECK(std::fabs(params.half_step[level] / bound - 1) < 1e-9);
  }
}

TEST_CASE("the roughest axis goes first, with the better spline") {
  FieldScan scan;
  scan.min = 0;
  scan.max = 1;
  scan.splines.profiled = {true, true, true};
  scan.splines.sum = {{{3, 2}, {5, 9}, {1, 1}}};
  InterpParams params = InterpParams::draft({}, {100, 100, 100});
  params.choose({}, scan, 1e-3, DType::f32);
  CHECK(params.order == std::array<std::uint8_t, 3>{1, 0, 2});
  CHECK(params.cubic == std::array{Cubic::natural, Cubic::not_a_knot, Cubic::not_a_knot});
  scan.splines.profiled = {true, true, false};
  params.choose({}, scan, 1e-3, DType::f32);
  CHECK(params.order == std::array<std::uint8_t, 3>{2, 1, 0});
}

TEST_CASE("tiles and anchors are as the paper has them") {
  const auto draft = [](const Extents3& extents) { return InterpParams::draft({}, extents); };
  CHECK(draft({50, 50, 50}).tile == Extents3{8, 8, 32});
  CHECK(draft({50, 50, 50}).anchor == 8);
  CHECK(draft({1, 50, 50}).tile == Extents3{1, 16, 16});
  CHECK(draft({1, 50, 50}).anchor == 16);
  CHECK(draft({1, 1, 50}).tile == Extents3{1, 1, 512});
  CHECK(draft({1, 1, 50}).levels() == 9);
  CHECK(anchor_grid(draft({50, 50, 50}), {50, 50, 50}) == Extents3{7, 7, 7});
  CHECK(anchor_grid(draft({1, 17, 16}), {1, 17, 16}) == Extents3{1, 2, 1});
}

TEST_CASE("tiles that do not fit their anchors are refused") {
  const auto draft = [](const Extents3& tile, std::uint32_t anchor) {
    PredictorConfig config;
    config.interp.tile = tile;
    config.interp.anchor = anchor;
    return InterpParams::draft(config, {50, 50, 50}).anchor;
  };
  CHECK(draft({16, 16, 16}, 16) == 16);
  CHECK_THROWS_AS(draft({16, 16, 16}, 32), UsageError);
  CHECK_THROWS_AS(draft({16, 16, 24}, 16), UsageError);
  CHECK_THROWS_AS(draft({12, 12, 12}, 12), UsageError);
  CHECK_THROWS_AS(draft({16, 16, 0}, 16), UsageError);
  CHECK_THROWS_AS(draft({16, 16, 16}, 1), UsageError);
  CHECK_THROWS_AS(draft({16, 16, 16}, 0), UsageError);
  CHECK_THROWS_AS(draft({128, 128, 128}, 16), UsageError);
}

TEST_CASE("the profile's points stand apart and away from the borders") {
  for (const Extents3& extents : {Extents3{1, 1, 7}, Extents3{1, 1, 500}, Extents3{1, 90, 30},
                                  Extents3{20, 30, 40}, Extents3{2, 30, 7}}) {
    std::vector<std::uint64_t> points;
    for (std::uint64_t k = 0; k < spline_sample_points; ++k) {
      const Extents3 at = spline_sample_point(k, extents);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        REQUIRE(at[axis] < extents[axis]);
        if (extents[axis] >= 7) {
          REQUIRE(at[axis] >= 3);
          REQUIRE(at[axis] + 3 < extents[axis]);
        }
      }
      points.push_back(point_at(at, extents));
    }
    const bool large = count_of(extents) > 400;
    std::sort(points.begin(), points.end());
    const auto distinct = std::unique(points.begin(), points.end()) - points.begin();
    CHECK((!large || extents[0] == 2 || distinct == 64));
  }
}

TEST_CASE("the profile measures both splines on whole lines only") {
  const Extents3 extents{1, 1, 7};
  const MissingTest<double> missing{FillValues{}};
  std::array<double, 2> sum{};
  std::vector<double> cubic;
  for (int x = -3; x <= 3; ++x) cubic.push_back(x * x * x + 2.0 * x * x);
  profile_splines(extents, cubic.data(), {0, 0, 3}, 2, missing, sum);
  CHECK(sum[static_cast<std::size_t>(Cubic::not_a_knot)] < 1e-12);
  CHECK(std::fabs(sum[static_cast<std::size_t>(Cubic::natural)] - 0.4) < 1e-12);
  cubic[6] = std::numeric_limits<double>::infinity();
  sum = {};
  profile_splines(extents, cubic.data(), {0, 0, 3}, 2, missing, sum);
  CHECK(sum == std::array<double, 2>{0, 0});
}

TEST_CASE("interp's parameters come back") {
  Random random(5);
  for (int i = 0; i < 50; ++i) {
    const Extents3 extents = random_extents(random);
    InterpParams params = random_params(random, extents);
    params.radius = 2048;
    for (std::size_t level = 0; level < static_cast<std::size_t>(params.levels()); ++level) {
      params.half_step[level] = 1e-3 / static_cast<double>(1 + level);
    }
    ByteWriter out;
    params.write(out);
    ByteReader in(out.view(), "the test");
    const InterpParams read = InterpParams::read(in, extents, DType::f64);
    CHECK_NOTHROW(in.expect_end());
    CHECK(read.tile == params.tile);
    CHECK(read.anchor == params.anchor);
    CHECK(read.cubic == params.cubic);
    CHECK(read.order == params.order);
    CHECK(read.half_step == params.half_step);
    CHECK(read.radius == params.radius);
  }
}

TEST_CASE("hostile parameters of interp are refused") {
  const Extents3 extents{50, 50, 50};
  const auto read = [&](const auto& change) {
    InterpParams params = InterpParams::draft({}, extents);
    params.radius = 512;
    params.half_step.fill(1e-3);
    change(params);
    ByteWriter out;
    params.write(out);
    ByteReader in(out.view(), "the test");
    return InterpParams::read(in, extents, DType::f32).radius;
  };
  using P = InterpParams;
  CHECK(read([](P&) {}) == 512);
  CHECK_THROWS_AS(read([](P& p) { p.tile[0] = 0; }), ArchiveError);
  CHECK_THROWS_AS(read([](P& p) { p.tile[0] = 12; }), ArchiveError);
  CHECK_THROWS_AS(read([](P& p) { p.tile[1] = 1; }), ArchiveError);
  CHECK_THROWS_AS(read([](P& p) { p.tile.fill(std::uint64_t{1} << 63); }), ArchiveError);
  CHECK_THROWS_AS(read([](P& p) { p.tile[2] = ~std::uint64_t{0} - 7; }), ArchiveError);
  CHECK_THROWS_AS(read([](P& p) { p.anchor = 0; }), ArchiveError);
  CHECK_THROWS_AS(read([](P& p) { p.anchor = 1; }), ArchiveError);
  CHECK_THROWS_AS(read([](P& p) { p.cubic[1] = static_cast<Cubic>(2); }), ArchiveError);
  CHECK_THROWS_AS(read([](P& p) { p.order = {0, 1, 3}; }), ArchiveError);
  CHECK_THROWS_AS(read([](P& p) { p.order = {0, 1, 1}; }), ArchiveError);
  CHECK_THROWS_AS(read([](P& p) { p.radius = 0; }), ArchiveError);
  CHECK_THROWS_AS(read([](P& p) { p.half_step[2] = -1; }), ArchiveError);
}

}  // namespace cuszi::test

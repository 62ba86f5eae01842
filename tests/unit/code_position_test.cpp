#include "core/multilevel/code_position.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/lattices.hpp"

namespace cuszi::test {

TEST_CASE("every code position of a pass has one point, and every point one code position",
          "[unsanitized]") {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const RandomLattice frame = random_lattice(random);
    INFO(frame.to_string());
    const Schedule schedule = make_schedule(frame.params.lattice);
    for (const Pass& pass : schedule.passes) {
      const auto classes = schedule.classes_of(pass);
      std::vector<int> taken(pass.points, 0);
      for (std::uint32_t c = 0; c < pass.classes; ++c) {
        const PointClass& points = classes[c];
        for (std::uint64_t k = 0; k < points.points(); ++k) {
          const Index4 j = raster_point(points, k);
          const std::uint64_t code_position = code_position_of(schedule.grid, points, j);
          REQUIRE(code_position < pass.points);
          ++taken[code_position];
          REQUIRE(point_at_code_position(schedule.grid, points, code_position) == j);
        }
      }
      REQUIRE(taken == std::vector<int>(pass.points, 1));
    }
  }
}

TEST_CASE("points of a class are listed tile by tile") {
  const Lattice lattice = Lattice::of({21, 22, 23}, false, {});
  const Schedule schedule = make_schedule(lattice);
  REQUIRE(schedule.grid.tile == Index4{1, 4, 4, 4});
  const Pass& last = schedule.passes.back();
  const PointClass& points = schedule.classes_of(last).back();
  REQUIRE(points.count == Index4{1, 10, 11, 11});
  // A whole tile, the last and thinner one of a row, and the first of the next row of tiles.
  CHECK(code_position_of(schedule.grid, points, {0, 0, 0, 3}) == points.start + 3);
  CHECK(code_position_of(schedule.grid, points, {0, 0, 1, 0}) == points.start + 4);
  CHECK(code_position_of(schedule.grid, points, {0, 1, 0, 0}) == points.start + 16);
  CHECK(code_position_of(schedule.grid, points, {0, 0, 0, 4}) == points.start + 64);
  CHECK(code_position_of(schedule.grid, points, {0, 0, 1, 8}) == points.start + 128 + 3);
  CHECK(code_position_of(schedule.grid, points, {0, 0, 4, 0}) == points.start + 4UL * 4 * 11);
}

}  // namespace cuszi::test

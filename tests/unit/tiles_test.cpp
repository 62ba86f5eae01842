#include "core/tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "cpu_ref/tiles.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

template <class Shape>
std::vector<int> all_points() {
  std::vector<int> points;
  for (int group = 0; group < 4; ++group)
    for (int bit = 0; bit < 8; ++bit) points.push_back(Shape::point_of(group, bit));
  return points;
}

template <class Shape>
void check_shape() {
  std::vector<int> points = all_points<Shape>();
  std::sort(points.begin(), points.end());
  for (int i = 0; i < static_cast<int>(lane_points); ++i)
    CHECK(points[static_cast<std::size_t>(i)] == i);
  std::vector<bool> seen(tile_points);
  for (int lane = 0; lane < static_cast<int>(tile_lanes); ++lane) {
    for (int point = 0; point < static_cast<int>(lane_points); ++point) {
      std::uint64_t at = 0;
      for (int axis = 0; axis < 3; ++axis)
        at = at * Shape::extents[static_cast<std::size_t>(axis)] +
             static_cast<unsigned>(Shape::coordinate(lane, point, axis));
      REQUIRE(at < tile_points);
      CHECK_FALSE(seen[at]);
      seen[at] = true;
    }
  }
}

/// Codes values, restores them and checks each against the bound.
template <class T>
cpu::SelfCoded check_round_trip(const Extents3& extents, const std::vector<T>& values,
                                double bound) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const Mask none;
  const TilesParams params{bound};
  cpu::SelfCoded coded = cpu::encode_values(
      params, bound, cpu::FrameInput<T>{extents, values, none, *low, *high, Dims{values.size()}});
  Sections sections;
  for (const cpu::OwnedSection& section : coded.sections) sections.add(section.id, section.bytes);
  std::vector<T> restored(values.size());
  cpu::decode_values(
      params, sections,
      cpu::FrameOutput<T>{extents, restored, none, *low, *high, Dims{values.size()}});
  for (std::size_t i = 0; i < values.size(); ++i)
    REQUIRE(within_bound(values[i], restored[i], bound));
  return coded;
}

}  // namespace

TEST_CASE("a tile's points have a place each, in space and among the bits") {
  check_shape<CubeTile>();
  check_shape<SquareTile>();
  check_shape<LineTile>();
}

TEST_CASE("eight bytes of eight bits are transposed, twice back to themselves") {
  std::uint32_t low = 0x00000001;   // bit 0 of byte 0
  std::uint32_t high = 0x80000000;  // bit 7 of byte 7
  transpose_bits(low, high);
  CHECK(low == 0x00000001);
  CHECK(high == 0x80000000);
  low = 0x00000002;   // bit 1 of byte 0 becomes bit 0 of byte 1
  high = 0x00000010;  // bit 4 of byte 4 stays
  transpose_bits(low, high);
  CHECK(low == 0x00000100);
  CHECK(high == 0x00000010);
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const auto a = static_cast<std::uint32_t>(random.next());
    const auto b = static_cast<std::uint32_t>(random.next());
    low = a;
    high = b;
    transpose_bits(low, high);
    transpose_bits(low, high);
    CHECK((low == a && high == b));
  }
}

TEST_CASE("a tile's head is read as it was written") {
  TileHead head;
  head.pairs = 16;
  head.dense = 15;
  head.axes = 7;
  head.base_bytes = 4;
  head.bytes = TileHead::max_bytes;
  head.patched = true;
  const TileHead read = TileHead::from(head.word());
  CHECK(read.word() == head.word());
  CHECK(read.is_valid());
  CHECK(read.words(1) == 15 * 64 + 1);
  CHECK_FALSE(TileHead::from(TileHead{17}.word()).is_valid());
  CHECK_FALSE(TileHead::from(TileHead{3, 4}.word()).is_valid());
}

TEST_CASE("points without an integer take that of their neighbours") {
  std::uint32_t integers[lane_points] = {};
  integers[3] = 7;
  integers[9] = 8;
  fill_absent(integers, ~((1U << 3) | (1U << 9)), 5);
  CHECK(integers[0] == 7);
  CHECK(integers[8] == 7);
  CHECK(integers[9] == 8);
  CHECK(integers[31] == 8);
  fill_absent(integers, ~0U, 5);
  CHECK(integers[0] == 5);
  CHECK(integers[31] == 5);
}

TEMPLATE_TEST_CASE("values of a certain magnitude never miss the bound", "", float, double) {
  Random random(1);
  int certain = 0;
  for (int i = 0; i < 2000; ++i) {
    const double bound = std::ldexp(1 + random.uniform(), static_cast<int>(random.below(40)) - 20);
    const double margin = bound * random.uniform() / 16;
    const TileQuantizer<TestType> quantizer(bound - margin, bound);
    const TestType most = quantizer.certain_magnitude();
    if (most < 0) continue;
    ++certain;
    for (int k = 0; k < 100; ++k) {
      // At the limit, anywhere, and half a step from an integer, where the error is largest.
      const auto anywhere = static_cast<TestType>(random.uniform() * static_cast<double>(most));
      const TestType near =
          (std::floor(anywhere / quantizer.step) + TestType(0.5)) * quantizer.step;
      for (const TestType value : {most, -most, anywhere, near}) {
        if (magnitude_of(value) > most) continue;
        const auto result = quantizer(value);
        REQUIRE(result.in_range);
        REQUIRE(quantizer.integer_of(value) == result.integer);
        REQUIRE(quantizer.fits(value, result.integer, {}));
      }
    }
  }
  CHECK(certain > 1500);
}

TEST_CASE("a field of one slope takes next to nothing") {
  std::vector<float> values(64 * 64 * 64);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i % 64 + i / 64 % 64);
  const cpu::SelfCoded coded = check_round_trip<float>({64, 64, 64}, values, 0.5);
  CHECK(coded.counts.patches == 0);
  CHECK(coded.sections.back().bytes.size() < values.size() * sizeof(float) / 30);
}

TEST_CASE("what the integers cannot hold is patched, and hopeless tiles stand as they are") {
  Random random(2);
  for (const Extents3 extents : {Extents3{1, 1, 3000}, Extents3{1, 45, 70}, Extents3{9, 17, 33}}) {
    std::vector<double> values(count_of(extents));
    for (double& value : values) {
      value = 2 * random.uniform() - 1;
      if (random.one_in(50)) value *= 1e12;
    }
    CHECK(check_round_trip(extents, values, 1e-3).counts.patches > 0);
    check_round_trip(extents, values, 1e-14);
  }
}

}  // namespace cuszi::test

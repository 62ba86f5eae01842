#include "core/tiles/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "cpu_ref/field/scan.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "cpu_ref/tiles/tile_bytes.hpp"
#include "cpu_ref/tiles/tiles.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/frame_codec.hpp"

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

/// What core makes of one value that is not missing.
template <class T>
T restored_alone(T value, const TileQuantizer<T>& quantizer, T low, T high) {
  const auto result = quantizer(value);
  const bool kept =
      result.certain || (result.in_range && quantizer.fits(value, result.integer, {}));
  return kept ? clamp_restored(quantizer.restored(result.integer), low, high) : value;
}

void require_same_sections(const cpu::OwnCoded& a, const cpu::OwnCoded& b) {
  REQUIRE(a.counts.patches == b.counts.patches);
  REQUIRE(a.sections.size() == b.sections.size());
  for (std::size_t i = 0; i < a.sections.size(); ++i)
    REQUIRE(a.sections[i].bytes == b.sections[i].bytes);
}

/// Codes finite values, with and without their range, restores them and compares each with what
/// core makes of it alone.
template <class T>
cpu::OwnCoded check_round_trip(const Extents3& extents, const std::vector<T>& values,
                               double bound) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const Mask none;
  const TilesParams params{bound * 0.999};
  const Dims dims{values.size()};
  cpu::OwnCoded coded = cpu::encode_values(
      params, bound, cpu::FrameInput<T>{extents, values, none, *low, *high, dims});
  FieldScan scan;
  const auto at_once = cpu::encode_unscanned(
      params, bound, cpu::FrameInput<T>{extents, values, none, 0, 0, dims}, scan);
  require_same_sections(at_once.value(), coded);
  REQUIRE(scan.min == *low);
  REQUIRE(scan.max == *high);
  Sections sections;
  for (const cpu::OwnedSection& section : coded.sections) sections.add(section.id, section.bytes);
  std::vector<T> restored(values.size());
  cpu::decode_values(params, sections,
                     cpu::FrameOutput<T>{extents, restored, none, *low, *high, dims});
  const TileQuantizer<T> quantizer(params.half_step, bound);
  for (std::size_t i = 0; i < values.size(); ++i) {
    REQUIRE(within_bound(values[i], restored[i], bound));
    REQUIRE(restored[i] == restored_alone(values[i], quantizer, *low, *high));
  }
  return coded;
}

}  // namespace

TEST_CASE("a tile's points have a place each, in space and among the bits") {
  check_shape<BoxTile>();
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

TEMPLATE_TEST_CASE("values of a certain magnitude never miss the bound", "[unsanitized]", float,
                   double) {
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

TEST_CASE("bytes that flags name are moved together, and back") {
  Random random(3);
  for (std::uint32_t flags = 0; flags < 256; ++flags) {
    std::uint64_t spread = 0;
    std::uint64_t together = 0;
    std::uint32_t count = 0;
    for (unsigned byte = 0; byte < 8; ++byte) {
      if (((flags >> byte) & 1) == 0) continue;
      const std::uint64_t value = 1 + random.below(255);
      spread |= value << (8 * byte);
      together |= value << (8 * count++);
    }
    CHECK(cpu::FlaggedBytes::count(flags) == count);
    CHECK(cpu::FlaggedBytes::gather(spread, flags) == together);
    const std::uint64_t behind = count == 8 ? 0 : random.next() << (8 * count);
    CHECK(cpu::FlaggedBytes::scatter(together | behind, flags) == spread);
  }
}

TEMPLATE_TEST_CASE("values near and far from zero are what core makes of them", "", float, double) {
  Random random(4);
  for (const Extents3 extents :
       {Extents3{1, 1, 5000}, Extents3{1, 70, 100}, Extents3{17, 19, 37}}) {
    for (const double offset : {0.0, 300.0, 1e6}) {
      std::vector<TestType> values(count_of(extents));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<TestType>(offset + std::sin(0.01 * static_cast<double>(i)) +
                                          0.01 * random.uniform());
      for (const double bound : {1e-1, 1e-3, 1e-5}) check_round_trip(extents, values, bound);
    }
  }
}

TEMPLATE_TEST_CASE("an isovalue half way between two steps needs no exact values", "", float,
                   double) {
  const auto backend = cpu::make_backend();
  const Dims dims{20, 30, 40};
  for (const FieldKind kind : {FieldKind::smooth, FieldKind::sparse}) {
    const auto values = make_values<TestType>(kind, dims, 3);
    const auto zeros = std::count(values.begin(), values.end(), TestType(0));
    for (const double isovalue : {0.0, 0.25, -0.03, 1e-6}) {
      FrameTask task{{dtype_of<TestType>, dims}, {}, {}};
      task.config.predictor.id = PredictorId::tiles;
      task.config.isovalues.add(isovalue);
      INFO("isovalue " << isovalue << ", " << zeros << " zeros");
      const CompressedFrame frame = compress(*backend, task, to_vector(bytes_of(values))).frame;
      const auto bytes = restore(*backend, task.shape, frame.bytes);
      const std::span restored(reinterpret_cast<const TestType*>(bytes.data()), values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        REQUIRE(side_of(restored[i], isovalue) == side_of(values[i], isovalue));
        if (kind == FieldKind::sparse && values[i] == 0) REQUIRE(restored[i] == 0);
      }
      if (kind == FieldKind::smooth && isovalue != 1e-6) CHECK(frame.patches < 10);
    }
  }
}

TEST_CASE("the step of tiles shrinks little for an isovalue") {
  for (const double isovalue : {0.0, 3.4, -7.9, 100.3, 0.6, -0.2}) {
    for (const bool keeps_zero : {false, true}) {
      TilesParams params{0.5};
      params.part_at(isovalue, keeps_zero);
      CHECK(std::fabs(params.half_step) >= 0.4375);
      CHECK(std::fabs(params.half_step) <= 0.5);
      if (keeps_zero) CHECK(params.half_step > 0);
      const TileQuantizer<double> quantizer(params.half_step);
      const double in_steps = isovalue / quantizer.step - quantizer.shift - 0.5;
      const bool is_between = std::fabs(in_steps - std::round(in_steps)) < 1e-9;
      CHECK(is_between == (std::fabs(isovalue) > 3 || (isovalue == 0 && !keeps_zero)));
    }
  }
}

TEST_CASE("a tile whose points are all missing is no more than its head") {
  std::vector<float> values(2 * tile_points, std::nanf(""));
  for (std::size_t i = 0; i < tile_points; ++i) values[i] = static_cast<float>(i % 7);
  const Mask mask = cpu::build_mask<float>(values, values, {}, tile_points);
  const cpu::OwnCoded coded = cpu::encode_values(
      TilesParams{0.1}, 0.1,
      cpu::FrameInput<float>{{1, 1, values.size()}, values, mask, 0, 6, Dims{values.size()}});
  std::uint32_t word = 0;
  std::memcpy(&word, coded.sections.back().bytes.data() + sizeof word, sizeof word);
  const TileHead head = TileHead::from(word);
  CHECK((head.pairs == 0 && head.base_bytes == 0 && head.bytes == 0 && !head.raw));
}

TEMPLATE_TEST_CASE("a frame with a value that is not finite is not coded unseen", "", float,
                   double) {
  using Limits = std::numeric_limits<TestType>;
  const Mask none;
  // Under the larger bound, a step is so large that the integers reach beyond all numbers.
  for (const double bound : {1e-3, static_cast<double>(Limits::max()) * 1e-6}) {
    for (const TestType odd : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
      for (const std::size_t at : {std::size_t{0}, std::size_t{777}, std::size_t{1999}}) {
        std::vector<TestType> values(2000, static_cast<TestType>(bound));
        values[at] = odd;
        FieldScan scan;
        CHECK_FALSE(cpu::encode_unscanned(
            TilesParams{bound * 0.999}, bound,
            cpu::FrameInput<TestType>{{1, 1, 2000}, values, none, 0, 0, Dims{2000}}, scan));
      }
    }
  }
}

TEST_CASE("a field of one slope takes next to nothing") {
  std::vector<float> values(64 * 64 * 64);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i % 64 + i / 64 % 64);
  const cpu::OwnCoded coded = check_round_trip<float>({64, 64, 64}, values, 0.5);
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

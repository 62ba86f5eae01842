#include "tests/support/local_bounds.hpp"

#include <cmath>
#include <limits>

#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

TEST_CASE("every point keeps to the bound that is given for it") {
  const PredictorId predictor = GENERATE(PredictorId::multilevel, PredictorId::cells);
  const int fields = some_of(400);
  const auto backend = cpu::make_backend();
  int coded = 0;
  int local = 0;
  int kept = 0;
  for (int seed = 1; seed <= fields; ++seed) {
    BoundedField field = random_bounded_field(static_cast<std::uint64_t>(seed));
    field.predictor = predictor;
    INFO(field.to_string());
    const CompressedFrame frame = compress(*backend, field.task(), field.values).frame;
    const auto restored = restore(*backend, field.shape, frame.bytes);
    const auto broken = field.first_over_its_bound(restored);
    INFO("first broken point " << broken.value_or(0));
    REQUIRE_FALSE(broken.has_value());
    coded += frame.header.kind == FrameKind::coded ? 1 : 0;
    local += has_section(frame.header, SectionId::bounds) ? 1 : 0;
    kept += frame.header.bounds && frame.header.bounds->kept != 0 ? 1 : 0;
  }
  CHECK(coded > expected_of(130));
  CHECK(local > expected_of(100));
  CHECK(kept > expected_of(25));
}

TEST_CASE("previews under local bounds have the values of the whole field") {
  const PredictorId predictor = GENERATE(PredictorId::multilevel, PredictorId::cells);
  const auto backend = cpu::make_backend();
  StepTimes times;
  int coded = 0;
  for (const Dims& dims : {Dims{7000}, Dims{45, 70}, Dims{20, 33, 40}, Dims{3, 10, 20, 30}}) {
    BoundedField field = random_bounded_field(9, dims);
    field.predictor = predictor;
    INFO(field.to_string());
    const CompressedFrame frame = compress(*backend, field.task(), field.values).frame;
    if (frame.header.kind != FrameKind::coded) continue;  // bounds too tight for so few points
    REQUIRE(has_section(frame.header, SectionId::bounds));
    ++coded;
    const auto whole = restore(*backend, field.shape, frame.bytes);
    const ByteCount size = size_of(field.shape.dtype);
    for (const std::uint64_t stride : {2U, 4U, 16U}) {
      Selection wanted{dims};
      wanted.step.fill(stride);
      const FramePreview preview = FramePreview::of(dims, frame.header, wanted);
      const ByteCount header = frame.bytes.size() - frame.header.payload_bytes();
      std::vector<std::byte> shown(wanted.points() * size);
      decompress_frame(*backend, field.shape, frame.header, preview,
                       Bytes(frame.bytes).subspan(header), shown, times);
      std::vector<std::byte> expected(shown.size());
      pick(wanted, field.shape.dtype, whole, expected);
      CHECK(shown == expected);
    }
  }
  CHECK(coded >= 3);
}

TEST_CASE("bounds that are alike cost nothing") {
  const auto backend = cpu::make_backend();
  BoundedField field = random_bounded_field(3, Dims{20, 30, 40});
  field.predictor = GENERATE(PredictorId::multilevel, PredictorId::cells);
  FrameTask task = field.task();
  task.places = {};
  const auto usual = compress(*backend, task, field.values).frame;
  const std::vector<float> alike(field.shape.points(), 2 * static_cast<float>(task.bound));
  task.places.field.bounds = alike;
  CHECK(compress(*backend, task, field.values).frame.bytes == usual.bytes);
}

TEST_CASE("the bounds of a frame are found where its first level holds nothing") {
  const auto backend = cpu::make_backend();
  const Dims dims{100, 120};
  FrameTask task{{DType::f32, dims}, {}, {}, ErrorMode::absolute, 1000};
  task.config.predictor.id = PredictorId::multilevel;
  task.config.coder = CoderId::ans;
  task.places.regions = {{{{}, {100, 120, 1, 1}}, 100}};
  const auto values = make_field(FieldKind::smooth, dims, DType::f32, 3);
  const CompressedFrame frame = compress(*backend, task, values).frame;
  REQUIRE(frame.header.levels.front().sections.empty());
  const auto bounds = bounds_of_frame(*backend, task.shape, frame.header, {});
  REQUIRE(bounds.has_value());
  CHECK(bounds->of_points({dims}).of(0) == 100);
}

TEST_CASE("a part with a small bound costs little beyond its own points", "[unsanitized]") {
  const auto backend = cpu::make_backend();
  const Dims dims{64, 64, 64};
  for (const PredictorId predictor : {PredictorId::multilevel, PredictorId::cells}) {
    BoundedField field{1, {DType::f32, dims}, {}, 1e-2, predictor, {}, {}};
    field.values = make_field(FieldKind::smooth, dims, DType::f32, 1);
    const auto bytes = [&] {
      const CompressedFrame frame = compress(*backend, field.task(), field.values).frame;
      CHECK_FALSE(field.first_over_its_bound(restore(*backend, field.shape, frame.bytes)));
      return frame.bytes.size();
    };
    const ByteCount coarse = bytes();
    field.regions = {{{{16, 16, 16, 0}, {48, 48, 48, 1}}, 1e-5}};  // an eighth
    const ByteCount part = bytes();
    field.regions = {};
    field.bound = 1e-5;
    const ByteCount fine = bytes();
    INFO(name_of(predictor) << ": " << coarse << ", " << part << ", " << fine << " bytes");
    CHECK(part < coarse + fine / 4);
  }
}

TEMPLATE_TEST_CASE("regions are kept to where the field's bound is near the largest number", "",
                   float, double) {
  const auto backend = cpu::make_backend();
  const double most = std::numeric_limits<TestType>::max();
  for (const double bound : {most / 16, most / 8, most / 4, most, no_bound}) {
    for (const TestType offset :
         {TestType(0), TestType(1000)}) {  // the latter: of one power of two
      INFO("bound " << bound << ", offset " << offset);
      BoundedField field{
          1, {dtype_of<TestType>, Dims{22, 11, 11}}, {}, bound, PredictorId::multilevel, {}, {}};
      field.regions = {{{{1, 0, 6, 0}, {9, 11, 7, 1}}, 1e-3}};
      auto values = make_values<TestType>(FieldKind::smooth, field.shape.dims, 5);
      for (TestType& value : values) value += offset;
      field.values = to_vector(bytes_of(values));
      const CompressedFrame frame = compress(*backend, field.task(), field.values).frame;
      CHECK(frame.header.kind == FrameKind::coded);
      CHECK_FALSE(field.first_over_its_bound(restore(*backend, field.shape, frame.bytes)));
    }
  }
}

TEST_CASE("of several regions of a point the last one's bound holds") {
  const Dims dims{32, 32, 32};
  const auto absolute = [](double bound) { return bound; };
  BoundsByPlace places;
  places.regions = {{{{0, 0, 0, 0}, {16, 16, 16, 1}}, 1e-3},
                    {{{8, 8, 8, 0}, {16, 16, 16, 1}}, 1e-2}};
  const AskedBounds asked = places.of_frame(dims, dims, {}, absolute);
  CHECK(asked.of_blocks.at(0) == 1e-3);
  CHECK(asked.of_blocks.at((1 * 4 + 1) * 4 + 1) == 1e-2);
  CHECK(std::isinf(asked.of_blocks.at(2)));
  CHECK(asked.lossless.empty());
}

TEST_CASE("frames of a field take their part of its regions and of its field of bounds") {
  const Dims dims{40, 20, 30};
  const auto absolute = [](double bound) { return bound / 2; };
  std::vector<float> bounds(5 * 3 * 4);
  for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = static_cast<float>(i + 1);
  BoundsByPlace places;
  places.field = {bounds, {8, 8, 8}};
  places.regions = {{{{17, 0, 0, 0}, {18, 1, 3, 1}}, 0}};
  places.check(dims);
  const AskedBounds asked = places.of_frame(dims, Dims{16, 20, 30}, {16, 0, 0}, absolute);
  for (std::size_t i = 0; i < asked.of_blocks.size(); ++i) {
    CHECK(asked.of_blocks[i] == static_cast<double>(2 * 3 * 4 + i + 1) / 2);
  }
  CHECK(asked.lossless.at(600 / 64) == std::uint64_t{7} << (600 % 64));
}

TEST_CASE("fields of bounds that do not fit are refused") {
  const std::vector<float> bounds{1, 2, -1};
  BoundsByPlace places;
  places.field.bounds = bounds;
  CHECK_THROWS_AS(places.check(Dims{2, 2}), UsageError);
  CHECK_THROWS_AS(places.check(Dims{3}), UsageError);
  places.field.block = {2, 1, 1, 1};
  CHECK_THROWS_AS(places.check(Dims{9}), UsageError);
}

}  // namespace cuszi::test

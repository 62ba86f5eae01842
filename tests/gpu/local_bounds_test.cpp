#include "tests/support/local_bounds.hpp"

#include "cpu_ref/session/cpu_backend.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

namespace {

/// Both backends make the same bytes, and restore each other's to the same values.
CompressedFrame check_bounded(Backend& cpu, Backend& gpu, const BoundedField& field) {
  INFO(field.to_string());
  const CompressedFrame expected = compress(cpu, field.task(), field.values).frame;
  const CompressedFrame made = compress(gpu, field.task(), field.values).frame;
  REQUIRE(made.header.bounds.has_value() == expected.header.bounds.has_value());
  REQUIRE(made.bytes == expected.bytes);
  const auto restored = restore(gpu, field.shape, expected.bytes);
  REQUIRE(restored == restore(cpu, field.shape, made.bytes));
  REQUIRE_FALSE(field.first_over_its_bound(restored).has_value());
  return made;
}

}  // namespace

TEST_CASE("fields with bounds by place have the same bytes on both backends",
          "[gpu][local_bounds]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  const PredictorId predictor = GENERATE(PredictorId::multilevel, PredictorId::cells);
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    BoundedField field = random_bounded_field(seed);
    field.predictor = predictor;
    check_bounded(*cpu, *gpu, field);
  }
}

TEST_CASE("large frames with bounds by place have the same bytes", "[gpu][local_bounds]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  const PredictorId predictor = GENERATE(PredictorId::multilevel, PredictorId::cells);
  for (const Dims& dims :
       {Dims{120, 130, 140}, Dims{1000, 1500}, Dims{900000}, Dims{3, 40, 90, 100}}) {
    for (const std::uint64_t seed : {8U, 9U}) {
      BoundedField field = random_bounded_field(seed, dims);
      field.predictor = predictor;
      const CompressedFrame frame = check_bounded(*cpu, *gpu, field);
      CHECK(has_section(frame.header, SectionId::bounds));
    }
  }
}

TEST_CASE("previews under bounds by place are the same on both backends", "[gpu][local_bounds]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  const PredictorId predictor = GENERATE(PredictorId::multilevel, PredictorId::cells);
  StepTimes times;
  for (const Dims& dims : {Dims{60, 70, 80}, Dims{300, 400}, Dims{20000}}) {
    BoundedField field = random_bounded_field(5, dims);
    field.predictor = predictor;
    const CompressedFrame frame = compress(*cpu, field.task(), field.values).frame;
    const Bytes payload =
        Bytes(frame.bytes).subspan(frame.bytes.size() - frame.header.payload_bytes());
    for (const std::uint64_t stride : {2U, 8U, 32U}) {
      Selection wanted{dims};
      wanted.step.fill(stride);
      const FramePreview preview = FramePreview::of(dims, frame.header, wanted);
      std::vector<std::byte> expected(wanted.points() * size_of(field.shape.dtype));
      std::vector<std::byte> made(expected.size());
      decompress_frame(*cpu, field.shape, frame.header, preview, payload, expected, times);
      decompress_frame(*gpu, field.shape, frame.header, preview, payload, made, times);
      CHECK(made == expected);
    }
  }
}

}  // namespace cuszi::test

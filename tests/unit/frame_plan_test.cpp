#include "core/archive/frame_plan.hpp"

#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("frames follow each other without gaps and cover every value once") {
  Random random(1);
  for (int i = 0; i < 2'000; ++i) {
    std::vector<std::uint64_t> extents(1 + random.below(4));
    for (auto& extent : extents)
      extent = random.pick<std::uint64_t>({1, 2, 3, 7, 64, 65, 100, 600, 1100});
    const Dims dims = *Dims::make(extents);
    const ByteCount frame_bytes = dims.count() / (1 + random.below(2'000)) * 4 + random.below(100);
    const FieldCuts plan = plan_frames(dims, DType::f32, frame_bytes, 1);
    INFO(dims.to_string() << " in frames of " << frame_bytes << ": axis " << plan.axis << ", "
                          << plan.height);
    if (plan.frames() > 3'000) continue;
    std::uint64_t next = 0;
    for (std::uint64_t frame = 0; frame < plan.frames(); ++frame) {
      REQUIRE(plan.first_value(frame) == next);
      REQUIRE(plan.frame_dims(frame).rank() == dims.rank());
      next += plan.frame_dims(frame).count();
    }
    REQUIRE(next == dims.count());
  }
}

TEST_CASE("a field that fits is one frame") {
  const FieldCuts plan = plan_frames({512, 512, 512}, DType::f32, ByteCount{1} << 30);
  CHECK(plan.frames() == 1);
  CHECK(plan.frame_dims(0) == Dims{512, 512, 512});
}

TEST_CASE("without a wish, fields of more than 512 MiB have frames of 256 to 512 MiB") {
  CHECK(plan_frames({512, 512, 512}, DType::f32).frames() == 1);
  CHECK(plan_frames({640, 512, 512}, DType::f32).height == 256);
  CHECK(plan_frames({1024, 512, 512}, DType::f32).height == 256);
  CHECK(plan_frames({512, 512, 512}, DType::f64).height == 128);
  CHECK(plan_frames({1600, 512, 512}, DType::f32).height == 384);
  CHECK(plan_frames({4096, 512, 512}, DType::f32).height == 512);
}

TEST_CASE("heights are multiples of 64 slices, of 8 where 64 do not fit") {
  const auto height = [](const Dims& dims, DType dtype, ByteCount bytes) {
    const FieldCuts plan = plan_frames(dims, dtype, bytes, 1);
    CHECK(plan.axis == 0);
    return plan.height;
  };
  const ByteCount slice = 100 * 100 * 4;
  CHECK(height({1000, 100, 100}, DType::f32, 200 * slice) == 192);
  CHECK(height({1000, 100, 100}, DType::f64, 200 * slice) == 64);
  CHECK(height({1000, 100, 100}, DType::f32, 63 * slice) == 56);
  CHECK(height({1000, 100, 100}, DType::f32, 7 * slice) == 7);
  CHECK(height({1000, 100, 100}, DType::f32, slice) == 1);
  CHECK(height({100, 100, 100}, DType::f32, 100 * slice) == 100);
  CHECK(height({1'000'000}, DType::f32, 4'100) == 1024);
  CHECK(height({1'000'000}, DType::f32, 2'000) == 496);
}

TEST_CASE("where one slice is too large, a faster axis is cut") {
  const ByteCount plane = 300 * 200 * 4;
  const FieldCuts plan = plan_frames({5, 100, 300, 200}, DType::f32, 70 * plane);
  CHECK(plan.axis == 1);
  CHECK(plan.height == 64);
  CHECK(plan.frames() == 10);
  CHECK(plan.frame_dims(0) == Dims{1, 64, 300, 200});
  CHECK(plan.frame_dims(1) == Dims{1, 36, 300, 200});
  CHECK(plan.first_value(2) == 100 * 300 * 200);
}

TEST_CASE("even a frame size of nothing cuts a field into single values at most") {
  const FieldCuts plan = plan_frames({3, 5}, DType::f64, 0, 1);
  CHECK(plan.frames() == 15);
  CHECK(plan.frame_dims(14).count() == 1);
}

TEST_CASE("frames have a least size") {
  for (const ByteCount wish : {0U, 4U, 1000U, 65536U}) {
    const FieldCuts plan = plan_frames({100, 100, 100}, DType::f32, wish);
    CHECK(plan.axis == 0);
    CHECK(plan_frames({20000}, DType::f32, wish).frames() == 2);
    CHECK(plan.frames() == plan_frames({100, 100, 100}, DType::f32, least_frame_bytes).frames());
  }
  CHECK(plan_frames({300, 37, 37}, DType::f32, 0).height == 16);  // 8 slices have 43 808 bytes
}

TEST_CASE("no frame but the last along its axis is smaller than the least") {
  Random random(2);
  for (int i = 0; i < 2'000; ++i) {
    std::vector<std::uint64_t> extents(1 + random.below(4));
    for (auto& extent : extents) extent = random.pick<std::uint64_t>({1, 2, 3, 37, 65, 100, 1100});
    const Dims dims = *Dims::make(extents);
    const FieldCuts plan = plan_frames(dims, DType::f64, random.below(200'000));
    INFO(dims.to_string() << ": axis " << plan.axis << ", " << plan.height);
    const bool is_last = plan.height == dims[plan.axis];
    if (plan.frames() > 1 && !is_last) {
      REQUIRE(plan.frame_dims(0).count() * sizeof(double) >= least_frame_bytes);
    }
  }
}

}  // namespace cuszi::test

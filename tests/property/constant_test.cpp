#include <cmath>

#include "cpu_ref/session/cpu_backend.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_frame.hpp"

namespace cuszi::test {

namespace {

bool has_zero(DType dtype, Bytes values, bool negative) {
  return with_type_of(dtype, [&](auto zero) {
    const auto typed = values_of<decltype(zero)>(values);
    return std::any_of(typed.begin(), typed.end(),
                       [&](auto value) { return value == 0 && std::signbit(value) == negative; });
  });
}

/// The field in an archive of several frames, and back.
std::vector<std::byte> through_archive(const RandomFrame& frame, Bytes values, Random& random) {
  const FrameShape& shape = frame.task.shape;
  FieldSettings settings = settings_of(frame.task);
  settings.frame_bytes = shape.bytes() / (1 + random.below(8)) + 1;
  return restore_archive(make_archive(shape.dims, shape.dtype, values, settings));
}

}  // namespace

TEST_CASE("a field of one value comes back bit for bit, from next to nothing") {
  const auto backend = cpu::make_backend();
  Random random(11);
  int constant = 0;
  int masked = 0;
  int signed_zeros = 0;
  int mixed = 0;
  for (int i = 0; i < some_of(600); ++i) {
    const RandomFrame random_frame = random_constant_frame(random, 300, 20'000);
    const FrameTask& task = random_frame.task;
    INFO("frame " << i << ": " << random_frame.to_string());
    const std::vector<std::byte> values = random_frame.values();
    const CompressedFrame frame = check_frame_twice(*backend, task, values);
    REQUIRE(restore(*backend, task.shape, frame.bytes) == values);
    REQUIRE(through_archive(random_frame, values, random) == values);
    const bool any = frame.header.missing < task.shape.points();
    const bool negative_zero = has_zero(task.shape.dtype, values, true);
    const bool both_zeros = negative_zero && has_zero(task.shape.dtype, values, false);
    REQUIRE((frame.header.kind == FrameKind::constant) == (!any || !both_zeros));
    constant += frame.header.kind == FrameKind::constant ? 1 : 0;
    masked += any && frame.header.missing != 0 ? 1 : 0;
    signed_zeros += negative_zero ? 1 : 0;
    mixed += both_zeros ? 1 : 0;
    if (frame.header.missing == 0 && !both_zeros) REQUIRE(frame.bytes.size() < 64);
  }
  CHECK(constant > expected_of(300));
  CHECK(masked > expected_of(50));
  CHECK(signed_zeros > expected_of(50));
  CHECK(mixed > expected_of(10));
}

}  // namespace cuszi::test

#include "tests/support/check_frame.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/local_bounds.hpp"
#include "tests/support/promises.hpp"

namespace cuszi::test {

namespace {

constexpr ByteCount allowed_growth = 1024;

}  // namespace

CompressedFrame check_frame(Backend& backend, const FrameTask& task, Bytes values) {
  const auto [frame, bound] = compress(backend, task, values);
  REQUIRE(frame.bytes.size() <= values.size() + allowed_growth);
  const auto restored = restore(backend, task.shape, frame.bytes);
  const auto broken =
      first_broken_promise(task.shape.dtype, values, restored, {task.fills, task.config.isovalues},
                           bound, bounds_of_points(task.places, task.shape.dims));
  INFO("bound " << bound.bound << ", share " << bound.share << ", first broken point "
                << broken.value_or(0));
  REQUIRE_FALSE(broken.has_value());
  return frame;
}

CompressedFrame check_frame_twice(Backend& backend, const FrameTask& task, Bytes values) {
  const CompressedFrame frame = check_frame(backend, task, values);
  REQUIRE(compress(backend, task, values).frame.bytes == frame.bytes);
  return frame;
}

}  // namespace cuszi::test

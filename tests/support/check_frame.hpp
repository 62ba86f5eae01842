#pragma once

#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

/// The first point of `restored` that breaks a promise (a missing value that is not bit for bit the
/// same, or one further from the original than `bound` or outside of the original's range), if any.
std::optional<std::uint64_t> first_broken_promise(DType dtype, Bytes original, Bytes restored,
                                                  const FillValues& fills, double bound);

/// Compresses and restores a frame and requires all that is promised of it. Returns the frame.
CompressedFrame check_frame(Backend& backend, const FrameTask& task, Bytes values);

}  // namespace cuszi::test

#pragma once

#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

/// Compresses and restores a frame and requires all that is promised of it. Returns the frame.
CompressedFrame check_frame(Backend& backend, const FrameTask& task, Bytes values);

/// The same, and that compressing again gives the same bytes.
CompressedFrame check_frame_twice(Backend& backend, const FrameTask& task, Bytes values);

}  // namespace cuszi::test

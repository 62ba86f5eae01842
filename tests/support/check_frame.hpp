#pragma once

#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

/// Compresses and restores a frame and requires that its size, the error bound and missing values
/// are as promised. Returns the frame.
CompressedFrame check_frame(Backend& backend, const FrameTask& task, Bytes values);

/// Does what check_frame() does, and requires that compressing again gives the same bytes.
CompressedFrame check_frame_twice(Backend& backend, const FrameTask& task, Bytes values);

}  // namespace cuszi::test

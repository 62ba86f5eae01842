#pragma once

#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

/// Takes a frame through two backends, step by step and there and back; fails at the first step in
/// which they differ.
void compare_steps(Backend& expected, Backend& made, const FrameTask& task, Bytes values);

}  // namespace cuszi::test

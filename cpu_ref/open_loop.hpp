#pragma once

#include <vector>

#include "core/multilevel.hpp"
#include "core/open_loop.hpp"
#include "cpu_ref/frame_work.hpp"

namespace cuszi::cpu {

/// What samples of the frame's classes tell (core/open_loop), by class of the parameters' schedule.
/// Missing values must be NaN.
template <class T>
std::vector<ClassErrors> open_loop_errors(const MultilevelParams& params,
                                          const FrameInput<T>& frame, const T* values);

}  // namespace cuszi::cpu

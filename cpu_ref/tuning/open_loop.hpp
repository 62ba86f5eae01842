#pragma once

#include <span>
#include <vector>

#include "core/multilevel/multilevel.hpp"
#include "core/tuning/open_loop.hpp"
#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// What samples of the frame's classes tell (core/tuning/open_loop) of each of these parameters, by
/// class of their schedules. Missing values must be NaN.
template <class T>
std::vector<std::vector<ClassErrors>> open_loop_errors(std::span<const MultilevelParams> candidates,
                                                       const FrameInput<T>& frame, const T* values);

}  // namespace cuszi::cpu

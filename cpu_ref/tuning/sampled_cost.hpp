#pragma once

#include <span>
#include <vector>

#include "core/multilevel/multilevel.hpp"
#include "core/tuning/sampled_cost.hpp"
#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// What samples of the frame's classes tell (core/tuning/sampled_cost) of each of these parameters,
/// by class of their schedules. Missing values must be NaN.
template <class T>
std::vector<std::vector<ClassErrors>> sampled_errors_of(
    std::span<const MultilevelParams> candidates, const FrameInput<T>& frame, const T* values);

}  // namespace cuszi::cpu

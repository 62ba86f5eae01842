#pragma once

#include "core/tuning/sampled_cost.hpp"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// The errors of each candidate's classes on samples of the frame; equals cpu::sampled_errors_of().
/// `values` come from without_missing(). The host waits once.
template <class T>
std::vector<std::vector<ClassErrors>> sampled_errors_of(
    DeviceContext& gpu, std::span<const MultilevelParams> candidates, const FrameInput<T>& frame,
    const T* values);

}  // namespace cuszi::gpu

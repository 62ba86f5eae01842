#pragma once

#include "core/tuning/sampled_cost.hpp"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// What samples of the frame tell of each of these parameters, as cpu::sampled_errors_of() says.
/// `values` are those of without_missing(). The host waits once.
template <class T>
std::vector<std::vector<ClassErrors>> sampled_errors_of(
    Work& work, std::span<const MultilevelParams> candidates, const FrameInput<T>& frame,
    const T* values);

}  // namespace cuszi::gpu

#pragma once

#include "core/tuning/open_loop.hpp"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

/// What samples of the frame tell of each of these parameters, as cpu::open_loop_errors() says.
/// `values` are those of without_missing(). The host waits once.
template <class T>
std::vector<std::vector<ClassErrors>> open_loop_errors(Work& work,
                                                       std::span<const MultilevelParams> candidates,
                                                       const FrameInput<T>& frame, const T* values);

}  // namespace cuszi::gpu

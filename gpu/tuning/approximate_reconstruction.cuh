#pragma once

#include <memory>

#include "core/tuning/approximate_reconstruction.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/context.hpp"
#include "gpu/tuning/stencil_fit.cuh"

namespace cuszi::gpu {

/// What a frame's first fits, on the device, would restore
/// (core/tuning/approximate_reconstruction): coarse levels are made as a whole, of level 1 samples
/// need few points. `plans` are those of all classes on the device, which get the weights of the
/// fits; `values` those of without_missing(); `memory` that of the encoder that comes next.
template <class T>
ApproximateReconstruction<T> approximate(DeviceContext& gpu, FrameMemory& memory,
                                         const MultilevelParams& params,
                                         const FramePlan<T>& frame_plan, ClassPlan<T>* plans,
                                         const FittedClass* fits, const FrameInput<T>& frame,
                                         const T* values);

}  // namespace cuszi::gpu

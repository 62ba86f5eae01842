#pragma once

#include <memory>

#include "core/backend/encode_session.hpp"
#include "gpu/tuning/multilevel_fit.cuh"

namespace cuszi::gpu {

/// Trials of parameters on a part of the frame, whose `values` come from without_missing(). If the
/// part is the whole frame, its fits are `frame_fits`. The session may live only as long as `gpu`
/// holds this frame.
template <class T>
std::unique_ptr<TrialSession> make_trial_session(DeviceContext& gpu, const TrialPart& part,
                                                 const FrameInput<T>& frame, const T* values,
                                                 Fits<T>& frame_fits);

}  // namespace cuszi::gpu

#pragma once

#include <memory>

#include "core/backend/encode_session.hpp"
#include "gpu/tuning/multilevel_fit.cuh"

namespace cuszi::gpu {

/// `values` come from without_missing(). Trials of the whole frame use `frame_fits`. The session
/// must not outlive the frame in `gpu`.
template <class T>
std::unique_ptr<TrialSession> make_trial_session(DeviceContext& gpu, const TrialPart& part,
                                                 const FrameInput<T>& frame, const T* values,
                                                 Fits<T>& frame_fits);

}  // namespace cuszi::gpu

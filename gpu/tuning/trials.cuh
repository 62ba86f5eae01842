#pragma once

#include <memory>

#include "core/backend/encode_session.hpp"
#include "gpu/tuning/fit_ahead.cuh"

namespace cuszi::gpu {

/// Trials in a part of the frame, whose `values` are without those that are missing. Not longer
/// than `work` has this frame.
template <class T>
std::unique_ptr<TrialSession> make_trial_session(Work& work, const Selection& box,
                                                 const FrameInput<T>& frame, const T* values,
                                                 FitAhead<T>& ahead);

}  // namespace cuszi::gpu

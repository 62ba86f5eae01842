#pragma once

#include <memory>

#include "core/encode_session.hpp"
#include "gpu/frame_work.cuh"

namespace cuszi::gpu {

/// Trials in a part of the frame. Not longer than `work` has this frame.
template <class T>
std::unique_ptr<TrialSession> make_trial_session(Work& work, const Selection& box,
                                                 const FrameInput<T>& frame);

}  // namespace cuszi::gpu

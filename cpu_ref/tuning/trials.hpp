#pragma once

#include <memory>

#include "core/backend/encode_session.hpp"
#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// Trials in a part of a frame, which must outlive them.
template <class T>
std::unique_ptr<TrialSession> make_trial_session(const TrialPart& part, const FrameInput<T>& frame);

}  // namespace cuszi::cpu

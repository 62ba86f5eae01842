#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/backend/encode_session.hpp"
#include "core/multilevel/multilevel.hpp"
#include "core/tuning/sampled_cost.hpp"
#include "cpu_ref/field/frame_work.hpp"
#include "cpu_ref/tuning/stencil_fit.hpp"

namespace cuszi::cpu {

/// The errors of a sample with coefficients fitted to it, if it is large enough, else with the
/// preset. `bound` is the fit_bound() of the class's level, `half_step` that of level 1.
ClassErrors errors_of(const Observations& sample, const Stencil& stencil, const PointClass& points,
                      double bound, double half_step);

/// What samples of the frame's classes tell (core/tuning/sampled_cost) of each of these parameters,
/// by class of their schedules. Missing values must be NaN.
template <class T>
std::vector<std::vector<ClassErrors>> sampled_errors_of(
    std::span<const MultilevelParams> candidates, const FrameInput<T>& frame, const T* values);

/// Trials in a part of a frame, which must outlive them.
template <class T>
std::unique_ptr<TrialSession> make_trial_session(const TrialPart& part, const FrameInput<T>& frame);

}  // namespace cuszi::cpu

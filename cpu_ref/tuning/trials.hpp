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

/// Errors of a sample, with fitted coefficients if it is large enough. `bound` is the level's
/// fit_bound(), `half_step` that of level 1.
ClassErrors errors_of(const Observations& sample, const Stencil& stencil, const PointClass& points,
                      double bound, double half_step);

/// Errors of each candidate (core/tuning/sampled_cost), by class. Missing values must be NaN.
template <class T>
std::vector<std::vector<ClassErrors>> sampled_errors_of(
    std::span<const MultilevelParams> candidates, const FrameInput<T>& frame, const T* values);

/// The part must outlive the session.
template <class T>
std::unique_ptr<TrialSession> make_trial_session(const TrialPart& part, const FrameInput<T>& frame);

}  // namespace cuszi::cpu

#pragma once

#include "core/trials.hpp"
#include "cpu_ref/frame_work.hpp"

namespace cuszi::cpu {

/// Chooses the schedule by trials and fits the coefficients of what was chosen; with
/// config.automatic, the Lorenzo predictor where it does better in the trial.
template <class T>
PredictorParams refine(MultilevelParams params, const PredictorConfig& config, double bound,
                       const Dims& dims, const FrameInput<T>& frame);

}  // namespace cuszi::cpu

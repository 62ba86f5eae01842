#pragma once

#include "core/trials.hpp"
#include "cpu_ref/frame_work.hpp"

namespace cuszi::cpu {

/// Chooses by trials and fits the coefficients of what was chosen.
template <class T>
void refine(MultilevelParams& params, const MultilevelConfig& config, double bound,
            const Dims& dims, const FrameInput<T>& frame);

}  // namespace cuszi::cpu

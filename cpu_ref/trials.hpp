#pragma once

#include "core/backend.hpp"
#include "core/trials.hpp"
#include "cpu_ref/frame_work.hpp"

namespace cuszi::cpu {

/// Chooses the schedule by trials and fits the coefficients of what was chosen; where `config`
/// leaves the predictor to it, the Lorenzo predictor if that does better in the trial, and where it
/// leaves the coder to it, Huffman after that.
template <class T>
Method refine(MultilevelParams params, const FrameConfig& config, double bound, const Dims& dims,
              const FrameInput<T>& frame);

}  // namespace cuszi::cpu

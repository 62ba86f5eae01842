#pragma once

#include <optional>

#include "core/backend/encode_session.hpp"
#include "core/base/cost.hpp"
#include "core/field/frame_shape.hpp"
#include "core/tuning/trial_part.hpp"

namespace cuszi {

/// The part of a frame that trials compress: all of it if it is small.
TrialPart trial_part(const Dims& dims);

/// What a frame of these squeezed dims costs by sampled costs.
struct SampledCost {
  Cost cost;
  Dims dims;
};

/// How a frame is coded, and what sampled costs say of it, if they were made.
struct ChosenMethod {
  Method method;
  std::optional<SampledCost> cost;
};

/// How the session's frame of this shape is best coded, by fits and trials: the schedule of
/// `multilevel`; where `config` leaves the predictor open, the Lorenzo predictor if it costs less
/// in the trial box, and where it leaves the coder open too, Huffman if that costs less after it.
/// Methods of other predictors stay as they are.
///
/// If `multilevel` was chosen for the first frame of the field, `first` tells how: this frame takes
/// the same schedule, without trials, if by sampled costs it costs half to twice as much a point.
ChosenMethod choose_method(EncodeSession& session, Method method, const FrameConfig& config,
                           const FrameShape& shape, double bound,
                           const ChosenMethod* first = nullptr);

}  // namespace cuszi

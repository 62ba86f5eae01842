#pragma once

#include <optional>

#include "core/encode_session.hpp"
#include "core/selection.hpp"

namespace cuszi {

/// The part of a frame, whose dims are squeezed, that trials compress: all of it if it is small,
/// else a box around its middle of up to 2^19 points (2^21 with the best effort).
Selection trial_box(const Dims& dims, Effort effort);

/// What coding its trial box took.
struct TrialCost {
  std::uint64_t bytes;
  Dims box;
};

/// How a frame is coded, and what trials say of it, if any were made.
struct ChosenMethod {
  Method method;
  std::optional<TrialCost> cost;
};

/// How the session's frame of these dims is best coded, by fits and trials: the schedule of
/// `multilevel`; where `config` leaves the predictor open, the Lorenzo predictor if it costs less
/// in the trial box, and where it leaves the coder open too, Huffman if that costs less after it.
/// Methods of other predictors stay as they are.
///
/// If `multilevel` was chosen for the first frame of the field, `first` tells how: this frame takes
/// the same schedule, without other trials, if its box takes half to twice as much a point.
ChosenMethod choose_method(EncodeSession& session, Method method, const FrameConfig& config,
                           const Dims& dims, double bound, const ChosenMethod* first = nullptr);

}  // namespace cuszi

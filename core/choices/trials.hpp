#pragma once

#include <optional>

#include "core/backend/encode_session.hpp"
#include "core/base/cost.hpp"
#include "core/field/frame_shape.hpp"
#include "core/tuning/trial_part.hpp"

namespace cuszi {

/// The whole frame if it is small.
TrialPart trial_part(const Dims& dims);

/// `dims` are squeezed.
struct SampledCost {
  Cost cost;
  Dims dims;
};

struct ChosenMethod {
  Method method;
  std::optional<SampledCost> cost;
};

/// Chooses by estimates and trials. For `multilevel`: its schedule; Lorenzo if `config` leaves the
/// predictor open and it costs less; then Huffman, if the coder is open too. Other methods are
/// returned unchanged.
///
/// If `first`, the choice for the field's first frame, is `multilevel`, its schedule is used
/// without trials if the sampled cost per point differs by at most a factor of 2.
ChosenMethod choose_method(EncodeSession& session, Method method, const FrameConfig& config,
                           const FrameShape& shape, double bound,
                           const ChosenMethod* first = nullptr);

}  // namespace cuszi

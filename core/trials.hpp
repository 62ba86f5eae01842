#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/encode_session.hpp"
#include "core/multilevel.hpp"
#include "core/selection.hpp"

namespace cuszi {

/// The part of a frame, whose dims are squeezed, that trials compress: all of it if it is small,
/// else a box around its middle.
Selection trial_box(const Dims& dims, Effort effort);

/// What a frame would take with each of these parameters, whose axes are those of the trial box.
using TrialCosts =
    std::function<std::vector<std::uint64_t>(std::span<const MultilevelParams> candidates)>;

/// Chooses axis roles, then reach (for the two best choices of roles), then level-wise bounds, each
/// by what the candidates cost in the trial box; the earlier candidate on ties. What the user has
/// forced, and with little effort everything, is not tried. `params` keeps the axes of the frame.
/// Returns the lowest cost, if anything was tried.
std::optional<std::uint64_t> choose_by_trials(MultilevelParams& params,
                                              const MultilevelConfig& config, const Dims& dims,
                                              const Dims& box, const TrialCosts& costs);

/// How the session's frame of these dims is best coded, by fits and trials: the schedule of
/// `multilevel`; where `config` leaves the predictor open, the Lorenzo predictor if it costs less
/// in the trial box, and where it leaves the coder open too, Huffman if that costs less after it.
/// Methods of other predictors stay as they are.
Method choose_method(EncodeSession& session, Method method, const FrameConfig& config,
                     const Dims& dims, double bound);

}  // namespace cuszi

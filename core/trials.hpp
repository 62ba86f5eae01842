#pragma once

#include <functional>
#include <optional>

#include "core/multilevel.hpp"
#include "core/selection.hpp"

namespace cuszi {

/// The part of a frame, whose dims are squeezed, that trials compress: all of it if it is small,
/// else a box around its middle.
Selection trial_box(const Dims& dims, Effort effort);

/// What a frame would take with these parameters, whose axes are those of the trial box.
using TrialCost = std::function<std::uint64_t(const MultilevelParams&)>;

/// Chooses axis roles, then reach (for the two best choices of roles), then level-wise bounds, each
/// by what the candidates cost in the trial box; the earlier candidate on ties. What the user has
/// forced, and with little effort everything, is not tried. `params` keeps the axes of the frame.
/// Returns the lowest cost, if anything was tried.
std::optional<std::uint64_t> choose_by_trials(MultilevelParams& params,
                                              const MultilevelConfig& config, const Dims& dims,
                                              const Dims& box, const TrialCost& cost);

}  // namespace cuszi

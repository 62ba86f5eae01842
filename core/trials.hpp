#pragma once

#include <functional>
#include <optional>

#include "core/multilevel.hpp"

namespace cuszi {

/// The part of a frame that trials compress: a box around its middle.
struct TrialBox {
  Dims dims;                                          ///< squeezed like the frame's
  std::array<std::uint64_t, Dims::max_rank> first{};  ///< along the frame's squeezed axes
};

/// The whole frame if it is small, else a box of at most trial_points: the longest axis is halved
/// until it is.
TrialBox trial_box(const Dims& dims, Effort effort);

/// What a frame would take with these parameters, whose axes are those of the trial box.
using TrialCost = std::function<std::uint64_t(const MultilevelParams&)>;

/// Chooses axis roles, then reach (for the two best choices of roles), then level-wise bounds, each
/// by what the candidates cost in the trial box; the earlier candidate on ties. What the user has
/// forced, and with little effort everything, is not tried. `params` keeps the axes of the frame.
/// Returns the lowest cost, if anything was tried.
std::optional<std::uint64_t> choose_by_trials(MultilevelParams& params,
                                              const MultilevelConfig& config, const Dims& dims,
                                              const TrialBox& box, const TrialCost& cost);

}  // namespace cuszi

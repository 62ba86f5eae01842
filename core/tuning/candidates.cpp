#include "core/tuning/candidates.hpp"

namespace cuszi {

namespace {

/// One axis of the padded four with a role, the others lattice axes.
Axes with_role(unsigned axis, AxisRole role, bool merged = false) {
  Axes axes{merged, {}};
  axes.roles[axis] = role;
  return axes;
}

}  // namespace

std::vector<Axes> axes_to_try(int rank, Effort effort) {
  if (rank == 1) return {Axes{}};
  const auto slowest = max_axes - static_cast<unsigned>(rank);
  if (rank == max_axes) {
    Axes both = with_role(0, AxisRole::independent);
    both.roles[1] = AxisRole::layered;
    Axes neither = both;
    neither.roles[1] = AxisRole::independent;
    return {with_role(0, AxisRole::independent),
            with_role(0, AxisRole::layered),
            with_role(1, AxisRole::layered, true),
            both,
            neither,
            with_role(1, AxisRole::lattice, true)};
  }
  std::vector<Axes> all{Axes{}, with_role(slowest, AxisRole::layered),
                        with_role(slowest, AxisRole::independent)};
  if (effort != Effort::best) return all;
  for (unsigned axis = slowest + 1; axis < max_axes; ++axis) {
    all.push_back(with_role(axis, AxisRole::layered));
    all.push_back(with_role(axis, AxisRole::independent));
  }
  return all;
}

bool has_bounds(const MultilevelParams& params, LevelBounds bounds) {
  return params.alpha == bounds.alpha && params.beta == bounds.beta;
}

bool set_bounds(MultilevelParams& params, LevelBounds bounds) {
  const bool changes = !has_bounds(params, bounds);
  params.alpha = bounds.alpha;
  params.beta = bounds.beta;
  return changes;
}

MultilevelParams with_bounds(MultilevelParams params, LevelBounds bounds) {
  set_bounds(params, bounds);
  return params;
}

}  // namespace cuszi

#include "core/tuning/candidates.hpp"

namespace cuszi {

namespace {

Axes with_role(unsigned axis, AxisRole role, bool merged = false) {
  Axes axes{merged, {}};
  axes.roles[axis] = role;
  return axes;
}

}  // namespace

std::vector<Axes> axes_to_try(int rank) {
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
  return {Axes{}, with_role(slowest, AxisRole::layered), with_role(slowest, AxisRole::independent)};
}

bool has_bounds(const MultilevelParams& params, LevelBounds bounds) {
  return params.alpha == bounds.alpha && params.beta == bounds.beta;
}

void set_bounds(MultilevelParams& params, LevelBounds bounds) {
  params.alpha = bounds.alpha;
  params.beta = bounds.beta;
}

MultilevelParams with_bounds(MultilevelParams params, LevelBounds bounds) {
  set_bounds(params, bounds);
  return params;
}

}  // namespace cuszi

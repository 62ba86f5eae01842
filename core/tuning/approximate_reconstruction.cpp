#include "core/tuning/approximate_reconstruction.hpp"

namespace cuszi {

ClassFinder::ClassFinder(const Lattice& lattice)
    : layered_axis(lattice.layered_axis()),
      levels(lattice.levels),
      slice_levels(lattice.slice_levels) {
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (lattice.roles[axis] == AxisRole::lattice) lattice_axes |= 1U << axis;
  }
}

std::vector<std::uint32_t> classes_by_slot(const ClassFinder& finder, const Schedule& schedule) {
  std::vector<std::uint32_t> classes(finder.slots(), 0);
  for (const PointClass& points : schedule.classes) {
    classes.at(finder.slot(points.level, points.odd, points.stage)) = points.index;
  }
  return classes;
}

}  // namespace cuszi

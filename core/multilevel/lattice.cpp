#include "core/multilevel/lattice.hpp"

#include <algorithm>
#include <bit>

namespace cuszi {

namespace {

constexpr std::uint64_t max_anchors = 64;
constexpr int max_slice_levels = 4;

std::uint64_t points_every(int log_spacing, std::uint64_t extent) {
  return ((extent - 1) >> log_spacing) + 1;
}

std::uint64_t anchor_count(const Lattice& lattice, int levels) {
  std::uint64_t count = 1;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    const int log_spacing = lattice.roles[axis] == AxisRole::lattice   ? levels
                            : lattice.roles[axis] == AxisRole::layered ? lattice.slice_levels
                                                                       : 0;
    count *= points_every(log_spacing, lattice.extents[axis]);
  }
  return count;
}

Index4 extents_of(const Dims& dims, bool merged) {
  const Dims squeezed = dims.squeezed();
  Index4 extents{1, 1, 1, 1};
  if (merged) {
    const Extents3 e = dims.as_3d();
    std::copy(e.begin(), e.end(), extents.begin() + 1);
  } else {
    std::copy_backward(squeezed.extents().begin(), squeezed.extents().end(), extents.end());
  }
  return extents;
}

}  // namespace

Lattice Lattice::of(const Dims& dims, bool merged, const Roles& roles) {
  Lattice lattice;
  lattice.merged = merged;
  lattice.roles = roles;
  lattice.extents = extents_of(dims, merged);
  if (const int axis = lattice.layered_axis(); axis >= 0) {
    const std::uint64_t extent = lattice.extents[static_cast<unsigned>(axis)];
    int& levels = lattice.slice_levels;
    while (levels < max_slice_levels && points_every(levels, extent) > 1) ++levels;
  }
  std::uint64_t longest = 1;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (roles[axis] != AxisRole::lattice) continue;
    longest = std::max(longest, lattice.extents[axis]);
    lattice.rank += lattice.extents[axis] > 1 ? 1 : 0;
  }
  int& levels = lattice.levels;
  while (points_every(levels, longest) > 1 && anchor_count(lattice, levels) > max_anchors) ++levels;
  return lattice;
}

Lattice Lattice::at_stride(std::uint64_t stride) const {
  Lattice coarse = *this;
  coarse.finest = finest + static_cast<int>(std::bit_width(stride)) - 1;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (roles[axis] == AxisRole::lattice) coarse.extents[axis] = ceil_div(extents[axis], stride);
  }
  return coarse;
}

const char* Lattice::flaw() const {
  if (std::count(roles.begin(), roles.end(), AxisRole::layered) > 1) {
    return "at most one axis can be layered";
  }
  if (extents[0] > 1 && roles[0] == AxisRole::lattice) {
    return "of four axes the slowest cannot be a lattice axis";
  }
  return nullptr;
}

int Lattice::layered_axis() const {
  const auto* const at = std::find(roles.begin(), roles.end(), AxisRole::layered);
  return at == roles.end() ? -1 : static_cast<int>(at - roles.begin());
}

}  // namespace cuszi

#include "core/tuning/trial_part.hpp"

namespace cuszi {

namespace {

/// In boxes. A lattice rule: boxes are apart along every axis.
constexpr std::array<std::uint64_t, Dims::max_rank> box_steps{1, 3, 5, 7};

void move_box(Selection& box, std::uint64_t turn, std::uint64_t turns) {
  for (int axis = 0; axis < box.from.rank(); ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const std::uint64_t extent = box.count(axis);
    const std::uint64_t at = turn * box_steps.at(a) % turns;
    box.first.at(a) = (box.from[axis] - extent) * (2 * at + 1) / (2 * turns);
    box.end.at(a) = box.first.at(a) + extent;
  }
}

}  // namespace

TrialPart TrialPart::whole(const Dims& dims) { return {{Selection{dims}}}; }

TrialPart TrialPart::of(const Dims& dims, std::uint64_t points_of_box, std::uint64_t count) {
  if (dims.rank() == Dims::max_rank || dims.count() < 2 * count * points_of_box) {
    return {{box_of(dims, count * points_of_box)}};
  }
  TrialPart part{{count, box_of(dims, points_of_box)}};
  for (std::uint64_t i = 0; i < count; ++i) move_box(part.boxes[i], i, count);
  return part;
}

Dims TrialPart::dims() const {
  const Dims box = boxes.front().dims();
  if (!has_several_boxes()) return box;
  std::vector<std::uint64_t> extents{boxes.size()};
  extents.insert(extents.end(), box.extents().begin(), box.extents().end());
  return Dims::make(extents).value();
}

Lattice TrialPart::lattice_like(const Lattice& of_frame) const {
  Roles roles = of_frame.roles;
  if (has_several_boxes()) {
    roles.at(max_axes - 1 - static_cast<unsigned>(frame().rank())) = AxisRole::independent;
  }
  return Lattice::of(dims(), of_frame.merged, roles);
}

}  // namespace cuszi

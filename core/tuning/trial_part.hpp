#pragma once

#include <vector>

#include "core/field/selection.hpp"
#include "core/multilevel/lattice.hpp"

namespace cuszi {

/// The part of a frame, whose dims are squeezed, that trials compress: one box, or several boxes of
/// equal extents from all over the frame, which make one array along a new slowest axis.
struct TrialPart {
  static constexpr std::uint64_t most_boxes = 8;

  std::vector<Selection> boxes;

  /// All of the frame.
  static TrialPart whole(const Dims& dims);
  /// `count` boxes, at most most_boxes, of up to `points_of_box` points each. The boxes lie apart
  /// along every axis. There is one box where the frame has four axes or is hardly larger.
  static TrialPart of(const Dims& dims, std::uint64_t points_of_box, std::uint64_t count);

  const Dims& frame() const { return boxes.front().from; }
  bool all() const { return boxes.front().all(); }
  bool has_several_boxes() const { return boxes.size() > 1; }
  std::uint64_t points() const { return boxes.size() * boxes.front().points(); }
  /// The dims of the array of all boxes.
  Dims dims() const;
  /// The lattice of the array of all boxes, with the roles that a frame's axes have. Boxes are
  /// independent.
  Lattice lattice_like(const Lattice& of_frame) const;
};

}  // namespace cuszi

#pragma once

#include <vector>

#include "core/field/selection.hpp"
#include "core/multilevel/lattice.hpp"

namespace cuszi {

/// The part of a frame (of squeezed dims) that trials code: one box, or several equal boxes that
/// form an array along a new slowest axis.
struct TrialPart {
  static constexpr std::uint64_t most_boxes = 8;

  std::vector<Selection> boxes;

  static TrialPart whole(const Dims& dims);
  /// Up to `count` boxes of up to `points_of_box` points, apart along every axis; one box in 4-D
  /// and in small frames.
  static TrialPart of(const Dims& dims, std::uint64_t points_of_box, std::uint64_t count);

  const Dims& frame() const { return boxes.front().from; }
  bool all() const { return boxes.front().all(); }
  bool has_several_boxes() const { return boxes.size() > 1; }
  std::uint64_t points() const { return boxes.size() * boxes.front().points(); }
  Dims dims() const;
  /// Boxes are independent.
  Lattice lattice_like(const Lattice& of_frame) const;
};

}  // namespace cuszi

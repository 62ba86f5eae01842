#pragma once

#include <array>
#include <cstdint>

#include "core/base/dims.hpp"
#include "core/field/config.hpp"

namespace cuszi {

inline constexpr unsigned max_axes = 4;

/// One number per axis, slowest first, padded with ones (or zeros) in front.
using Index4 = std::array<std::uint64_t, max_axes>;

using Roles = std::array<AxisRole, max_axes>;

/// The array of a frame as `multilevel` refines it, level by level. Archives say what the axes are;
/// all else follows from that and the frame's dims.
struct Lattice {
  bool merged = false;  ///< the two slowest of four axes count as one
  Roles roles{};

  Index4 extents{};      ///< as the roles see the axes
  int levels = 0;        ///< level l has spacing 2^(l-1) along lattice axes; anchors have 2^levels
  int rank = 0;          ///< lattice axes longer than 1
  int slice_levels = 0;  ///< of a layered axis: whole slices every 2^slice_levels come first

  int finest = 1;  ///< the last level; a preview does without the others

  static Lattice of(const Dims& dims, bool merged, const Roles& roles);

  /// The lattice of every stride-th point along lattice axes alone: the points that the levels of
  /// that spacing and coarser ones restore. `stride` is a power of two, at most 2^levels.
  Lattice at_stride(std::uint64_t stride) const;

  /// What is wrong with the roles of the axes, or nothing.
  const char* flaw() const;

  /// The number of the layered axis; -1 if no axis is layered.
  int layered_axis() const;

  friend bool operator==(const Lattice&, const Lattice&) = default;
};

}  // namespace cuszi

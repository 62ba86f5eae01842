#pragma once

#include <array>
#include <cstdint>

#include "core/base/dims.hpp"
#include "core/field/config.hpp"

namespace cuszi {

inline constexpr unsigned max_axes = 4;

/// By axis, slowest first, padded with ones (or zeros) in front.
using Index4 = std::array<std::uint64_t, max_axes>;

using Roles = std::array<AxisRole, max_axes>;

/// Archives store the roles of the axes; the rest follows from these and the frame's dims.
struct Lattice {
  bool merged = false;  ///< the two slowest of four axes form one
  Roles roles{};

  Index4 extents{};      ///< after merging
  int levels = 0;        ///< level l has spacing 2^(l-1) along lattice axes, anchors 2^levels
  int rank = 0;          ///< number of lattice axes longer than 1
  int slice_levels = 0;  ///< layered axis: every 2^slice_levels-th slice comes first

  int finest = 1;  ///< last level; previews stop earlier

  static Lattice of(const Dims& dims, bool merged, const Roles& roles);

  /// Lattice of every stride-th point along lattice axes, which levels of that spacing and coarser
  /// ones restore. `stride` is a power of two, at most 2^levels.
  Lattice at_stride(std::uint64_t stride) const;

  /// Describes an invalid role; nullopt if none.
  const char* flaw() const;

  /// -1 if none.
  int layered_axis() const;

  friend bool operator==(const Lattice&, const Lattice&) = default;
};

}  // namespace cuszi

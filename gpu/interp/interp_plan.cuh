#pragma once

#include "core/interp/interp.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// The points of a closed box in the order of their turns, as lists that threads share out. A point
/// is its three coordinates in one word.
///
/// Points on the far faces are predicted for the sake of predictions that need them; at level 1
/// those on a far face along an axis that had its turn have no such use and are left out.
struct InterpPlan {
  static constexpr int max_stages = 3 * InterpParams::max_levels;

  struct Stage {
    std::uint32_t begin;
    std::uint32_t end;
    std::int32_t stride;  ///< in the box, between neighbours
    std::uint8_t axis;
    std::uint8_t level;
  };

  std::array<Stage, max_stages> stages{};
  int stage_count = 0;
  std::uint32_t anchors = 0;  ///< the first points of the list
  Extents32 size{};           ///< of a whole closed box
  std::array<std::uint8_t, 3> shift{};
  std::array<std::uint32_t, 3> mask{};
  Extents32 first_spline{};  ///< of each axis, in a tile's array of splines
  std::uint32_t splines = 0;
  const std::uint32_t* points = nullptr;

  CUSZI_HD std::uint32_t coordinate(std::uint32_t point, unsigned axis) const {
    return (point >> shift[axis]) & mask[axis];
  }
  CUSZI_HD std::uint32_t box_points() const { return size[0] * size[1] * size[2]; }
};

InterpPlan make_plan(DeviceContext& gpu, const InterpParams& params);

}  // namespace cuszi::gpu

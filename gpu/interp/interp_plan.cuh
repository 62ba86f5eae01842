#pragma once

#include "core/interp/interp.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Points of a closed box in the order of prediction, three coordinates in a word. Points on far
/// faces help later predictions; at level 1, those of axes that had their turn are omitted.
struct InterpPlan {
  static constexpr int max_stages = 3 * InterpParams::max_levels;

  struct Stage {
    std::uint32_t begin;
    std::uint32_t end;
    std::int32_t stride;  ///< between neighbours in the box
    std::uint8_t axis;
    std::uint8_t level;
  };

  std::array<Stage, max_stages> stages{};
  int stage_count = 0;
  std::uint32_t anchors = 0;  ///< at the front of the list
  Extents32 size{};           ///< of a complete closed box
  std::array<std::uint8_t, 3> shift{};
  std::array<std::uint32_t, 3> mask{};
  Extents32 first_spline{};  ///< by axis, in a tile's array of splines
  std::uint32_t splines = 0;
  const std::uint32_t* points = nullptr;

  CUSZI_HD std::uint32_t coordinate(std::uint32_t point, unsigned axis) const {
    return (point >> shift[axis]) & mask[axis];
  }
  CUSZI_HD std::uint32_t box_points() const { return size[0] * size[1] * size[2]; }
};

InterpPlan make_plan(DeviceContext& gpu, const InterpParams& params);

}  // namespace cuszi::gpu

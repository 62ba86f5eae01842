#include <bit>
#include <vector>

#include "gpu/interp/interp_plan.cuh"
#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

namespace {

template <class Skip>
void append_points(const InterpPlan& plan, const Extents32& first, const Extents32& step,
                   const Skip& skip, std::vector<std::uint32_t>& points) {
  for (std::uint32_t z = first[0]; z < plan.size[0]; z += step[0]) {
    for (std::uint32_t y = first[1]; y < plan.size[1]; y += step[1]) {
      for (std::uint32_t x = first[2]; x < plan.size[2]; x += step[2]) {
        if (!skip(Extents32{z, y, x})) {
          points.push_back((z << plan.shift[0]) | (y << plan.shift[1]) | (x << plan.shift[2]));
        }
      }
    }
  }
}

/// Sets the size of a complete closed box.
void set_size(const InterpParams& params, InterpPlan& plan) {
  unsigned shift = 0;
  for (unsigned axis = 3; axis-- > 0;) {
    const auto tile = static_cast<std::uint32_t>(params.tile[axis]);
    plan.size[axis] = tile == 1 ? 1 : tile + 1;
    const auto bits = static_cast<unsigned>(std::bit_width(plan.size[axis] - 1));
    plan.shift[axis] = static_cast<std::uint8_t>(shift);
    plan.mask[axis] = (1U << bits) - 1;
    shift += bits;
    plan.first_spline[axis] = plan.splines;
    plan.splines += plan.size[axis];
  }
}

}  // namespace

InterpPlan make_plan(DeviceContext& gpu, const InterpParams& params) {
  InterpPlan plan;
  set_size(params, plan);
  std::vector<std::uint32_t> points;
  const Extents32 anchor_step{params.anchor, params.anchor, params.anchor};
  append_points(
      plan, {}, anchor_step, [](const Extents32&) { return false; }, points);
  plan.anchors = static_cast<std::uint32_t>(points.size());

  const Extents32 strides{plan.size[1] * plan.size[2], plan.size[2], 1};
  for (int level = params.levels(); level >= 1; --level) {
    for (int turn = 0; turn < 3; ++turn) {
      const InterpStage stage = interp_stage(params, plan.size, level, turn);
      const auto begin = static_cast<std::uint32_t>(points.size());
      append_points(
          plan, stage.first, stage.step,
          [&](const Extents32& at) {
            for (int i = 0; i < turn && level == 1; ++i) {
              const unsigned done = params.order[static_cast<unsigned>(i)];
              if (params.tile[done] > 1 && at[done] == params.tile[done]) return true;
            }
            return false;
          },
          points);
      const auto end = static_cast<std::uint32_t>(points.size());
      if (begin == end) continue;
      plan.stages[static_cast<std::size_t>(plan.stage_count++)] = {
          begin, end, static_cast<std::int32_t>(strides[stage.axis] * stage.spacing),
          static_cast<std::uint8_t>(stage.axis), static_cast<std::uint8_t>(level)};
    }
  }
  plan.points = upload(gpu, points.data(), points.size());
  return plan;
}

}  // namespace cuszi::gpu

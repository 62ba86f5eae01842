#pragma once

#include <vector>

#include "core/field/local_bounds.hpp"
#include "core/multilevel/multilevel.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Index of each point's local bound, as LocalBounds::of_points().
const std::uint8_t* spread_bounds(DeviceContext& gpu, const LocalBounds& local,
                                  const Selection& points, std::uint8_t* out);

template <class T>
struct LocalQuantizers {
  const std::uint8_t* bounds = nullptr;      ///< by point; null: all have the frame's
  const Quantizer<T>* quantizers = nullptr;  ///< from bound 1 on

  __device__ bool has(std::uint64_t point) const { return bounds != nullptr && bounds[point] != 0; }
  __device__ const Quantizer<T>& of(std::uint64_t point, const Quantizer<T>& frame) const {
    return has(point) ? quantizers[bounds[point] - 1] : frame;
  }
};

template <class T>
std::vector<Quantizer<T>> local_quantizers(const LocalBounds& local, const MultilevelParams& params,
                                           int level, double min, double max,
                                           const RestoreRules<T>& rules = {}) {
  std::vector<Quantizer<T>> all;
  for (const LocalBound& bound : local.bounds) {
    all.emplace_back(params.half_step_of(level, bound.half_step), bound.bound, min, max,
                     params.radius, rules);
  }
  return all;
}

}  // namespace cuszi::gpu

#pragma once

#include "core/multilevel/context.hpp"
#include "gpu/multilevel/multilevel.cuh"
#include "gpu/multilevel/spots.cuh"

namespace cuszi::gpu {

/// root_feature(): sqrt rounds correctly, so it never rounds up to an integer.
__device__ inline std::int32_t root_of(std::int32_t slope) {
  return static_cast<std::int32_t>(std::sqrt(static_cast<float>(feature_one * slope)));
}

template <class Magnitudes>
__device__ ValueAt<Magnitudes> group_sum(const ContextTaps& taps, const std::int64_t* offsets,
                                         unsigned g, const Magnitudes& magnitude) {
  ValueAt<Magnitudes> sum = 0;
  for (unsigned i = taps.begin(g); i < taps.end(g); ++i) sum += magnitude[offsets[i]];
  return sum;
}

/// slopes_of() of inner points.
template <class T, class Values>
__device__ Slopes<ValueAt<Values>> inner_slopes(const DeviceClass<T>& view, const Values& value) {
  SlopeSums<T, ValueAt<Values>> sums;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (!view.plan.points.is_odd(axis)) continue;
    const auto& line = view.line_offsets[axis];
    sums.add(value[line[1]], value[line[2]], value[line[0]] + value[line[3]]);
  }
  return sums.slopes();
}

/// Sums for inner points.
template <unsigned count, class T>
__device__ Spots<std::int32_t, count> inner_sums(const LevelArray<T>& array,
                                                 const DeviceClass<T>& view,
                                                 const FeatureWeights& weights,
                                                 const std::uint64_t (&offsets)[count]) {
  using Magnitudes = SpotValues<std::uint8_t, std::int32_t, count>;
  const ClassPlan<T>& plan = view.plan;
  const Magnitudes magnitudes(array.magnitudes, offsets);
  Spots<std::int32_t, count> sums = weights[constant] * feature_one;
  CUSZI_UNROLL
  for (unsigned g = 0; g < ContextTaps::most_groups; ++g) {
    if (g >= plan.context_taps.size) break;
    sums += std::int32_t{weights[direct + g]} *
            group_sum(plan.context_taps, plan.context_offsets.data(), g, magnitudes);
  }
  if (plan.points.order == 0) return sums;
  const auto slopes = inner_slopes(view, SpotValues<T, T, count>(array.values, offsets));
  CUSZI_UNROLL
  for (unsigned i = 0; i < count; ++i) {
    Features f{};
    add_slopes(plan, Slopes<T>{slopes.slope.of[i], slopes.curvature.of[i], slopes.spread.of[i]}, f);
    sums.of[i] += weighted_sum(weights, f);
  }
  return sums;
}

/// Sum for a point at a border.
template <class T>
__device__ std::int32_t border_sum(const LevelArray<T>& array, const DeviceClass<T>& view,
                                   const FeatureWeights& weights, const Index4& at) {
  const LevelPointer<T> values(array.values, array.layout, at);
  const LevelPointer<std::uint8_t> magnitudes(array.magnitudes, array.layout, at);
  const PointAt<LevelPointer<T>> p{view.grid, view.plan.points, at, values};
  return weighted_sum(weights, features_of(view.plan, p, magnitudes));
}

}  // namespace cuszi::gpu

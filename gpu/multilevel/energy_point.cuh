#pragma once

#include "core/multilevel/energy.hpp"
#include "gpu/multilevel/multilevel.cuh"
#include "gpu/multilevel/spots.cuh"

namespace cuszi::gpu {

/// root_feature(): square roots are rounded correctly, so no integer is reached from below.
__device__ inline std::int32_t root_of(std::int32_t slope) {
  return static_cast<std::int32_t>(std::sqrt(static_cast<float>(energy_one * slope)));
}

/// The sum of what stands at the taps of a group.
template <class Magnitudes>
__device__ ValueAt<Magnitudes> group_sum(const EnergyTaps& taps, const std::int64_t* offsets,
                                         unsigned g, const Magnitudes& magnitude) {
  ValueAt<Magnitudes> sum = 0;
  for (unsigned i = taps.begin(g); i < taps.end(g); ++i) sum += magnitude[offsets[i]];
  return sum;
}

/// How wrong the means of near neighbours are in the enclosing slices.
template <class T, class Values>
__device__ ValueAt<Values> inner_slice_errors(const DeviceClass<T>& view, const Values& value) {
  const ClassPlan<T>& plan = view.plan;
  constexpr unsigned slices = same_point - direct;
  ValueAt<Values> errors = 0;
  for (unsigned i = plan.energy.begin(slices); i < plan.energy.end(slices); ++i) {
    const std::int64_t there = plan.energy_offsets[i];
    ValueAt<Values> sum = 0;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (!plan.points.is_odd(axis)) continue;
      const auto& line = view.line_offsets[axis];
      sum += value[there + line[1]] + value[there + line[2]];
    }
    errors += fabs(value[there] - sum * plan.near_share);
  }
  return errors;
}

/// core's slopes_of() where all neighbours are in the array.
template <class T, class Values>
__device__ Slopes<ValueAt<Values>> inner_slopes(const DeviceClass<T>& view, const Values& value) {
  SlopeSums<T, ValueAt<Values>> sums;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (!view.plan.points.is_odd(axis)) continue;
    const auto& line = view.line_offsets[axis];
    sums.add(value[line[1]], value[line[2]], value[line[0]] + value[line[3]]);
  }
  return sums.with(inner_slice_errors(view, value));
}

/// The weighted sums of the features of points that have all neighbours.
template <unsigned count, class T>
__device__ Spots<std::int32_t, count> inner_sums(const LevelArray<T>& array,
                                                 const DeviceClass<T>& view,
                                                 const EnergyWeights& weights,
                                                 const std::uint64_t (&offsets)[count]) {
  using Magnitudes = SpotValues<std::uint8_t, std::int32_t, count>;
  const ClassPlan<T>& plan = view.plan;
  const Magnitudes magnitudes(array.magnitudes, offsets);
  Spots<std::int32_t, count> sums = weights[constant] * energy_one;
  CUSZI_UNROLL
  for (unsigned g = 0; g < EnergyTaps::most_groups; ++g) {
    if (g >= plan.energy.size) break;
    sums += std::int32_t{weights[direct + g]} *
            group_sum(plan.energy, plan.energy_offsets.data(), g, magnitudes);
  }
  if (plan.points.order == 0) return sums;
  const auto slopes = inner_slopes(view, SpotValues<T, T, count>(array.values, offsets));
  CUSZI_UNROLL
  for (unsigned i = 0; i < count; ++i) {
    EnergyFeatures f{};
    add_slopes(plan,
               Slopes<T>{slopes.slope.of[i], slopes.curvature.of[i], slopes.spread.of[i],
                         slopes.errors.of[i]},
               f);
    sums.of[i] += weighted_sum(weights, f);
  }
  return sums;
}

/// The weighted sum of the features of a point at the border, which lacks some neighbours.
template <class T>
__device__ std::int32_t border_sum(const LevelArray<T>& array, const DeviceClass<T>& view,
                                   const EnergyWeights& weights, const Index4& at) {
  const LevelPointer<T> values(array.values, array.layout, at);
  const LevelPointer<std::uint8_t> magnitudes(array.magnitudes, array.layout, at);
  const PointAt<LevelPointer<T>> p{view.grid, view.plan.points, at, values};
  return weighted_sum(weights, features_of(view.plan, p, magnitudes));
}

}  // namespace cuszi::gpu

#pragma once

#include "core/energy.hpp"
#include "gpu/multilevel.cuh"

namespace cuszi::gpu {

/// Where one point stands: in its level's array, in the frame, and in its pass.
struct PointPlaces {
  std::uint64_t offset;
  std::uint64_t original;
  std::uint64_t place;
};

/// The prediction of a point of a level from what stands in the level's array.
template <class T>
__device__ T predicted(const LevelArray<T>& array, const ClassView<T>& view, const Index4& at,
                       std::uint64_t offset) {
  const ClassPlan<T>& plan = view.plan;
  if (plan.stencil.size != 0 && is_inner(at, plan.stencil_margins, array.layout.extents)) {
    return inner_prediction(plan, array.values + offset);
  }
  const LevelPointer<T> neighbours(array.values, array.layout, at);
  return snapped(
      plan, interpolated(plan, PointAt<LevelPointer<T>>{view.grid, plan.points, at, neighbours}));
}

/// Quantises one point and restores it; its code.
template <class T>
__device__ QuantCode quantise_point(const QuantiseTask<T>& task, const LevelArray<T>& array,
                                    const PointPlaces& at, T expected) {
  if (task.missing.words != nullptr && task.missing.test(at.original)) {
    array.values[at.offset] = expected;
    array.magnitudes[at.offset] = 0;
    return static_cast<QuantCode>(task.quantizer.radius);
  }
  const T value = task.original[at.original];
  const Quantised<T> q = task.zones == nullptr
                             ? quantise(task.quantizer, task.fills, value, expected)
                             : quantise(task.quantizer, task.fills,
                                        task.zones[task.contexts[at.place]], value, expected);
  array.values[at.offset] = q.restored;
  array.magnitudes[at.offset] = magnitude_of_code(q.code, task.quantizer.radius);
  if (q.code == outlier_code) {
    task.outliers.set(at.place);
    atomicAdd(reinterpret_cast<unsigned long long*>(task.outlier_count), 1ULL);
  }
  return q.code;
}

/// Restores one point from its code.
template <class T>
__device__ void restore_point(const RestoreTask<T>& task, const LevelArray<T>& array,
                              const PointPlaces& at, T expected, QuantCode code) {
  if (task.missing.words != nullptr && task.missing.test(at.original)) {
    array.values[at.offset] = expected;
    array.magnitudes[at.offset] = 0;
    return;
  }
  array.magnitudes[at.offset] = magnitude_of_code(code, task.quantizer.radius);
  if (code != outlier_code) {
    array.values[at.offset] = restore(task.quantizer, expected, code);
    return;
  }
  const RankedBits& listed = task.outliers.bits;
  const bool is_listed = listed.words != nullptr && listed.test(at.place);
  if (!is_listed) atomicOr(task.flaws, unlisted_outlier);
  array.values[at.offset] =
      is_listed ? value_of<T>(task.outliers.value(listed.rank(at.place))) : expected;
}

}  // namespace cuszi::gpu

#pragma once

#include "core/backend/encode_session.hpp"
#include "core/multilevel/context.hpp"
#include "gpu/multilevel/multilevel.cuh"
#include "gpu/multilevel/spots.cuh"

namespace cuszi::gpu {

template <class T>
__device__ T predicted(const LevelArray<T>& array, const DeviceClass<T>& view, const Index4& at) {
  const ClassPlan<T>& plan = view.plan;
  const LevelPointer<T> neighbours(array.values, array.layout, at);
  return snapped(
      plan, interpolated(plan, PointAt<LevelPointer<T>>{view.grid, plan.points, at, neighbours}));
}

template <class T>
struct PredictedSpots {
  T expected[RegionPolicy::points];  ///< by code position
  SpotList others;
};

template <class T>
__device__ void predict_spots(const PassView<T>& pass, const DeviceClass<T>& view,
                              const Region& region, PredictedSpots<T>& shared) {
  const ClassPlan<T>& plan = view.plan;
  look_at_spots(
      pass, view, region, plan.stencil_margins, shared.others,
      [&](const std::uint64_t(&offsets)[spots_of_thread], unsigned which) {
        Spots<T, spots_of_thread> sums = plan.background;
        if (plan.stencil.size != 0) {
          sums = inner_interpolated(plan,
                                    SpotValues<T, T, spots_of_thread>(pass.array.values, offsets));
        }
        CUSZI_UNROLL
        for (T& sum : sums.of) sum = snapped(plan, sum);
        put_spots(pass, region, sums, which, shared.expected);
      },
      [&](const Spot& spot, std::uint32_t code_position) {
        shared.expected[code_position] =
            predicted(pass.array, view, position_of(view, region, spot));
      });
}

/// The point must not be missing.
template <class T>
__device__ void add_error(const QuantiseTask<T>& task, T original, T restored,
                          std::int64_t& errors) {
  errors += error_in_units(static_cast<double>(original), static_cast<double>(restored),
                           task.error_units_per_one);
}

/// Called by whole warps.
template <class T>
__device__ void add_to_sum(const QuantiseTask<T>& task, std::int64_t errors) {
  for (int step = 16; step != 0; step /= 2) errors += __shfl_down_sync(~0U, errors, step);
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(reinterpret_cast<unsigned long long*>(task.error_sum),
            static_cast<unsigned long long>(errors));
}

/// Returns the code.
template <class T>
__device__ QuantCode quantise_point(const QuantiseTask<T>& task, const LevelArray<T>& array,
                                    const PointPositions& at, T expected, std::int64_t& errors) {
  if (task.missing.words != nullptr && task.missing.test(at.original)) {
    array.values[at.offset] = expected;
    array.magnitudes[at.offset] = 0;
    return static_cast<QuantCode>(task.quantizer.radius);
  }
  const T value = task.original[at.original];
  const Quantizer<T>& quantizer = task.local.of(at.original, task.quantizer);
  const Quantised<T> q =
      task.zones == nullptr
          ? quantise(quantizer, task.rules, value, expected)
          : quantise(quantizer, task.rules, task.zones[task.contexts[at.code_position]], value,
                     expected);
  array.values[at.offset] = q.restored;
  array.magnitudes[at.offset] = magnitude_of_code(q.code, task.quantizer.radius);
  add_error(task, value, q.restored, errors);
  if (q.code == outlier_code) {
    task.outliers.set(at.code_position);
    atomicAdd(reinterpret_cast<unsigned long long*>(task.outlier_count), 1ULL);
  }
  return q.code;
}

template <class T>
__device__ void restore_point(const RestoreTask<T>& task, const LevelArray<T>& array,
                              const PointPositions& at, T expected, QuantCode code) {
  if (task.missing.words != nullptr && task.missing.test(at.original)) {
    array.values[at.offset] = expected;
    array.magnitudes[at.offset] = 0;
    return;
  }
  array.magnitudes[at.offset] = magnitude_of_code(code, task.quantizer.radius);
  if (code != outlier_code) {
    const Quantizer<T>& quantizer = task.local.of(at.original, task.quantizer);
    array.values[at.offset] = restore(quantizer, expected, code);
    return;
  }
  const RankedBits& listed = task.outliers.bits;
  const bool is_listed = listed.words != nullptr && listed.test(at.code_position);
  if (!is_listed) atomicOr(task.flaws, unlisted_outlier);
  array.values[at.offset] =
      is_listed ? value_of<T>(task.outliers.value(listed.rank(at.code_position))) : expected;
}

}  // namespace cuszi::gpu

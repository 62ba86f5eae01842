#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/transform/restoration.cuh"

namespace cuszi::gpu {

namespace {

/// Rows of 32 points per warp, to overlap loads of values and tables.
constexpr unsigned rows = 4;

std::uint64_t threads_for(std::uint64_t points) { return ceil_div(points, 32 * rows) * 32; }

/// Others follow at distances of 32.
__device__ std::uint64_t first_point() {
  const std::uint64_t i = ItemPolicy::first();
  return i / 32 * 32 * rows + i % 32;
}

template <class T>
__device__ void load_points(const T* values, std::uint64_t first, std::uint64_t points,
                            T (&loaded)[rows]) {
#pragma unroll
  for (unsigned row = 0; row < rows; ++row) {
    const std::uint64_t i = first + 32 * row;
    loaded[row] = i < points ? values[i] : T{0};
  }
}

template <class T, class Params>
__global__ void transform_points(const __grid_constant__ PointTransform<T, Params> transform,
                                 const T* values, std::uint64_t points, T* out,
                                 std::uint32_t* negative) {
  const std::uint64_t first = first_point();
  T loaded[rows];
  load_points(values, first, points, loaded);
  Transformed<T> made[rows];
#pragma unroll
  for (unsigned row = 0; row < rows; ++row) made[row] = transform(loaded[row]);
#pragma unroll
  for (unsigned row = 0; row < rows; ++row) {
    const std::uint64_t i = first + 32 * row;
    if (i < points) out[i] = made[row].value;
    if constexpr (Params::has_signs) continue;
    const unsigned signs = __ballot_sync(~0U, i < points && made[row].is_negative);
    if (threadIdx.x % 32 == 0 && i < points) negative[i / 32] = signs;
  }
}

/// `negative`: a bit per point, or null if all are `alike`.
template <class T, class Params>
__global__ void restore_points(const __grid_constant__ PointRestorer<T, Params> restorer,
                               const std::uint64_t* negative, bool alike, T* values,
                               std::uint64_t points) {
  const std::uint64_t first = first_point();
  T loaded[rows];
  load_points(values, first, points, loaded);
#pragma unroll
  for (unsigned row = 0; row < rows; ++row) {
    const std::uint64_t i = first + 32 * row;
    if (i >= points) break;
    const bool is_negative = negative == nullptr ? alike : (negative[i / 64] >> (i % 64) & 1) != 0;
    values[i] = restorer(loaded[row], is_negative);
  }
}

}  // namespace

template <class T>
void transform_values(DeviceContext& gpu, const TransformChoice& choice, const ValueBound& bound,
                      const FillValues& fills, const RestoreRules<T>& rules, const T* values,
                      std::uint64_t points, T* out, std::uint64_t* negative) {
  std::visit(
      [&]<class Params>(const Params& params) {
        const PointTransform<T, Params> transform(params, choice, bound, fills, rules);
        launch_items(gpu, "transform_points", threads_for(points), transform_points<T, Params>,
                     transform, values, points, out, reinterpret_cast<std::uint32_t*>(negative));
      },
      choice.params);
}

template <class T>
void restore_values(DeviceContext& gpu, const TransformTarget& target, std::uint64_t points,
                    T* values) {
  const std::uint64_t* const negative = target.negative.empty() ? nullptr : target.negative.data();
  std::visit(
      [&]<class Params>(const Params& params) {
        const PointRestorer<T, Params> restorer(params, target);
        launch_items(gpu, "restore_points", threads_for(points), restore_points<T, Params>,
                     restorer, negative, target.all_negative(), values, points);
      },
      target.transform.params);
}

template void transform_values(DeviceContext&, const TransformChoice&, const ValueBound&,
                               const FillValues&, const RestoreRules<float>&, const float*,
                               std::uint64_t, float*, std::uint64_t*);
template void transform_values(DeviceContext&, const TransformChoice&, const ValueBound&,
                               const FillValues&, const RestoreRules<double>&, const double*,
                               std::uint64_t, double*, std::uint64_t*);
template void restore_values(DeviceContext&, const TransformTarget&, std::uint64_t, float*);
template void restore_values(DeviceContext&, const TransformTarget&, std::uint64_t, double*);

}  // namespace cuszi::gpu

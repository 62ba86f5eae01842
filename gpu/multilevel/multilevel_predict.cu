#include "core/multilevel/code_position.hpp"
#include "gpu/multilevel/multilevel_point.cuh"
#include "gpu/multilevel/pass_kernels.cuh"

namespace cuszi::gpu {

namespace {

template <class T>
__device__ void list_value(const LevelArray<T>& array, const PointPositions& at, T* listed) {
  if (listed != nullptr) listed[at.code_position] = value_to_hash(array.values[at.offset]);
}

template <class T>
__global__ void __launch_bounds__(RegionPolicy::threads)
    quantise_kernel(__grid_constant__ const PassView<T> pass,
                    __grid_constant__ const QuantiseTask<T> task) {
  __shared__ Staged<QuantCode> codes;
  __shared__ PredictedSpots<T> predicted;
  std::int64_t errors = 0;
  for_each_region(pass, [&](const DeviceClass<T>& view, const Region& region) {
    predict_spots(pass, view, region, predicted);
    for_each_spot(pass.shape, region, [&](const Spot& spot, std::uint32_t code_position) {
      const PointPositions at = positions_of(pass, view, region, spot, code_position);
      codes.values[code_position] =
          quantise_point(task, pass.array, at, predicted.expected[code_position], errors);
      list_value(pass.array, at, task.listed);
    });
    __syncthreads();
    codes.store(task.codes + region.code_position, region.points());
    __syncthreads();
  });
  add_to_sum(task, errors);
}

template <class T>
__global__ void __launch_bounds__(RegionPolicy::threads)
    restore_kernel(__grid_constant__ const PassView<T> pass,
                   __grid_constant__ const RestoreTask<T> task) {
  __shared__ Staged<QuantCode> codes;
  __shared__ PredictedSpots<T> predicted;
  for_each_region(pass, [&](const DeviceClass<T>& view, const Region& region) {
    codes.load(task.codes + region.code_position, region.points());
    predict_spots(pass, view, region, predicted);
    __syncthreads();
    for_each_spot(pass.shape, region, [&](const Spot& spot, std::uint32_t code_position) {
      const PointPositions at = positions_of(pass, view, region, spot, code_position);
      restore_point(task, pass.array, at, predicted.expected[code_position],
                    codes.values[code_position]);
      list_value(pass.array, at, task.listed);
    });
    __syncthreads();
  });
}

template <class T>
__global__ void __launch_bounds__(RegionPolicy::threads)
    missing_positions_kernel(__grid_constant__ const PassView<T> pass, RankedBits missing,
                             std::uint8_t* is_missing) {
  for_each_region(pass, [&](const DeviceClass<T>& view, const Region& region) {
    for_each_spot(pass.shape, region, [&](const Spot& spot, std::uint32_t code_position) {
      is_missing[region.code_position + code_position] =
          missing.test(original_offset_of(view, region, spot)) ? 1 : 0;
    });
  });
}

template <class T>
__global__ void __launch_bounds__(RegionPolicy::threads)
    split_contexts_kernel(__grid_constant__ const PassView<T> pass, const std::uint8_t* bounds,
                          std::uint8_t others, std::uint8_t* contexts) {
  for_each_region(pass, [&](const DeviceClass<T>& view, const Region& region) {
    for_each_spot(pass.shape, region, [&](const Spot& spot, std::uint32_t code_position) {
      if (bounds[original_offset_of(view, region, spot)] == 0) return;
      contexts[region.code_position + code_position] += others;
    });
  });
}

/// Bits of the original at a code position.
template <class T>
struct OriginalAt {
  PassView<T> pass;
  Grid grid;  ///< of the frame
  const T* original;

  __device__ std::uint64_t operator()(std::uint64_t code_position) const {
    std::uint32_t c = 0;
    while (c + 1 < pass.class_count && pass.classes[c + 1].plan.points.start <= code_position) ++c;
    const PointClass& points = pass.classes[c].plan.points;
    const Index4 at =
        cuszi::position_of(points, point_at_code_position(grid, points, code_position));
    return bits_of(original[pass.array.layout.original_offset_of(at)]);
  }
};

}  // namespace

template <class T>
void quantise_pass(DeviceContext& gpu, const PassView<T>& pass, const QuantiseTask<T>& task) {
  if (fits_vectors(pass, task)) return quantise_vectors(gpu, pass, task);
  if (pass.geometry != Geometry::any) return quantise_cube(gpu, pass, task);
  quantise_kernel<T><<<pass.grid, RegionPolicy::threads, 0, gpu.stream()>>>(pass, task);
  check_launch("quantise_pass");
}

template <class T>
Bytes list_outliers(DeviceContext& gpu, const PassView<T>& pass, const T* original,
                    const RankedBits& outliers, std::uint64_t count) {
  Grid grid;
  grid.tile = {1, pass.shape.tile1(), pass.shape.tile2(), pass.shape.tile3()};
  return encode_sparse(gpu, outliers, count, OriginalAt<T>{pass, grid, original});
}

template <class T>
void restore_pass(DeviceContext& gpu, const PassView<T>& pass, const RestoreTask<T>& task) {
  if (fits_vectors(pass, task)) return restore_vectors(gpu, pass, task);
  if (pass.geometry != Geometry::any) return restore_cube(gpu, pass, task);
  restore_kernel<T><<<pass.grid, RegionPolicy::threads, 0, gpu.stream()>>>(pass, task);
  check_launch("restore_pass");
}

template <class T>
void find_missing_positions(DeviceContext& gpu, const PassView<T>& pass, const RankedBits& missing,
                            std::uint8_t* is_missing) {
  missing_positions_kernel<T>
      <<<pass.grid, RegionPolicy::threads, 0, gpu.stream()>>>(pass, missing, is_missing);
  check_launch("find_missing_positions");
}

template <class T>
void split_contexts(DeviceContext& gpu, const PassView<T>& pass, const std::uint8_t* bounds,
                    std::size_t others, std::uint8_t* contexts) {
  split_contexts_kernel<T><<<pass.grid, RegionPolicy::threads, 0, gpu.stream()>>>(
      pass, bounds, static_cast<std::uint8_t>(others), contexts);
  check_launch("split_contexts");
}

#define CUSZI_INSTANTIATE(T)                                                                    \
  template void quantise_pass(DeviceContext&, const PassView<T>&, const QuantiseTask<T>&);      \
  template Bytes list_outliers(DeviceContext&, const PassView<T>&, const T*, const RankedBits&, \
                               std::uint64_t);                                                  \
  template void restore_pass(DeviceContext&, const PassView<T>&, const RestoreTask<T>&);        \
  template void split_contexts(DeviceContext&, const PassView<T>&, const std::uint8_t*,         \
                               std::size_t, std::uint8_t*);                                     \
  template void find_missing_positions(DeviceContext&, const PassView<T>&, const RankedBits&,   \
                                       std::uint8_t*);
CUSZI_INSTANTIATE(float)
CUSZI_INSTANTIATE(double)
#undef CUSZI_INSTANTIATE

}  // namespace cuszi::gpu

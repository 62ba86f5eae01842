#include "gpu/multilevel/multilevel_cube_kernels.cuh"
#include "gpu/multilevel/pass_kernels.cuh"

namespace cuszi::gpu {

namespace {

/// Rare points that need closer tests come last, one by one, to avoid divergence.
template <class Class, class T>
__device__ void quantise_tile(const RegionOfClass<Class, T>& tile, const LevelArray<T>& array,
                              const QuantiseTask<T>& task, const T (&expected)[cube_points],
                              QuantCode* codes, std::int64_t& errors) {
  T original[cube_points];
  CUSZI_UNROLL
  for (int k = 0; k < cube_points; ++k) {
    if (tile.has(k)) original[k] = task.original[tile.original(k)];
  }
  unsigned rare = task.zones != nullptr ? (1U << cube_points) - 1 : 0;
  CUSZI_UNROLL
  for (int k = 0; k < cube_points; ++k) {
    if (!tile.has(k)) continue;
    const Attempt<T> attempt = try_to_quantise(task.quantizer, original[k], expected[k]);
    bool is_rare = !attempt.certain | task.quantizer.zone.has(original[k]);
    if (task.missing.words != nullptr) is_rare |= task.missing.test(tile.original(k));
    if (task.local.bounds != nullptr) is_rare |= task.local.has(tile.original(k));
    rare |= static_cast<unsigned>(is_rare) << k;
    const std::uint64_t offset = tile.offset(k);
    array.values[offset] = (rare >> k) % 2 != 0 ? expected[k] : attempt.result.restored;
    array.magnitudes[offset] = magnitude_of_code(attempt.result.code, task.quantizer.radius);
    codes[tile.code_position_in_region(k)] = attempt.result.code;
    if ((rare >> k) % 2 == 0) add_error(task, original[k], attempt.result.restored, errors);
  }
  CUSZI_NO_UNROLL
  for (int k = 0; rare != 0; ++k, rare >>= 1) {
    if (rare % 2 == 0 || !tile.has(k)) continue;
    const std::uint32_t code_position = tile.code_position_in_region(k);
    const PointPositions at{tile.offset(k), tile.original(k), tile.first() + code_position};
    codes[code_position] = quantise_point(task, array, at, array.values[at.offset], errors);
  }
}

/// Returns the sum of the thread's errors.
template <class Class, class T>
__device__ std::int64_t quantise_tiles(RegionOfClass<Class, T> tile, const LevelArray<T>& array,
                                       const ClassPlan<T>& plan, int reach,
                                       const QuantiseTask<T>& task, CubeShared<T>& shared) {
  std::int64_t errors = 0;
  for (std::uint32_t i = 0; tile.exists(i); ++i, tile.next()) {
    CubeStage<QuantCode>& codes = shared.codes[i % 2];
    T expected[cube_points];
    predict_tile(tile, array, plan, reach, shared.values.values, expected);
    quantise_tile(tile, array, task, expected, codes.values, errors);
    __syncthreads();
    codes.store(task.codes + tile.first(), tile.points());
    if (task.listed != nullptr) list_tile(tile, array, shared.values, task.listed);
  }
  return errors;
}

template <class Classes, class T>
__global__ void __launch_bounds__(RegionPolicy::threads, CubePolicy::blocks_of_sm<T>)
    quantise_cube_kernel(__grid_constant__ const CubePass<Classes, T> pass,
                         __grid_constant__ const QuantiseTask<T> task) {
  __shared__ CubeShared<T> shared;
  std::int64_t errors = 0;
  visit_tile(pass, [&](const auto& tile, const ClassPlan<T>& plan) {
    errors = quantise_tiles(tile, pass.array, plan, pass.reach, task, shared);
  });
  add_to_sum(task, errors);
}

}  // namespace

template <class T>
void quantise_cube(DeviceContext& gpu, const PassView<T>& pass, const QuantiseTask<T>& task) {
  with_cube_pass(gpu.device(), pass, [&](const auto& cube) {
    quantise_cube_kernel<<<cube.grid.blocks, RegionPolicy::threads, 0, gpu.stream()>>>(cube, task);
  });
  check_launch("quantise_cube");
}

template void quantise_cube(DeviceContext&, const PassView<float>&, const QuantiseTask<float>&);
template void quantise_cube(DeviceContext&, const PassView<double>&, const QuantiseTask<double>&);

}  // namespace cuszi::gpu

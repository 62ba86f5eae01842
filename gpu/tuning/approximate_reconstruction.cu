#include "gpu/multilevel/multilevel_point.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/tuning/approximate_reconstruction.cuh"
#include "gpu/tuning/approximate_reconstruction_cube.cuh"

namespace cuszi::gpu {

namespace {

constexpr int made_from = 2;  ///< level

/// Gives plans the weights of their classes' fits.
template <class T>
__global__ void use_fits(const FittedClass* fits, std::uint32_t classes, ClassPlan<T>* plans,
                         std::uint32_t views, DeviceClass<T>* coarse) {
  const std::uint32_t i = blockIdx.x * RegionShape::block_threads + threadIdx.x;
  if (i >= classes || fits[i].count == 0) return;
  set_shares(fitted_shares(fits[i].coefficients.data(), plans[i].stencil), plans[i]);
  if (i < views) coarse[i].plan.weights = plans[i].weights;
}

/// The values of a level's points, in the order of its array. Threads x along rows, y over rows;
/// blocks z take parts of long ones.
template <class T>
__global__ void __launch_bounds__(RegionShape::block_threads)
    gather_level(const T* values, __grid_constant__ const LevelArray<T> level) {
  const LevelLayout& layout = level.layout;
  const std::uint64_t row = std::uint64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  const Index4& extents = layout.extents;
  if (row >= extents[0] * extents[1] * extents[2]) return;
  Index4 at{row / extents[2] / extents[1], row / extents[2] % extents[1], row % extents[2], 0};
  for (at[3] = std::uint64_t{blockIdx.z} * blockDim.x + threadIdx.x; at[3] < extents[3];
       at[3] += std::uint64_t{gridDim.z} * blockDim.x) {
    level.values[layout.offset_of(at)] = values[layout.original_offset_of(at)];
  }
}

/// What is restored of the points of a pass, whose level's array has originals; `made` is an array
/// of the frame.
template <class T>
__global__ void __launch_bounds__(RegionShape::block_threads)
    approximate_kernel(__grid_constant__ const PassView<T> pass,
                       __grid_constant__ const ApproximateReconstruction<T> approximation,
                       T* made) {
  __shared__ PredictedSpots<T> predicted;
  for_each_region(pass, [&](const DeviceClass<T>& view, const Region& region) {
    predict_spots(pass, view, region, predicted);
    for_each_spot(pass.shape, region, [&](const Spot& spot, std::uint32_t code_position) {
      const PointPositions at = positions_of(pass, view, region, spot, code_position);
      made[at.original] = approximation.restored(view.plan, pass.array.values[at.offset],
                                                 predicted.expected[code_position]);
    });
  });
}

/// The arrays of the levels that are made, with their originals, the finest first.
template <class T>
std::vector<LevelArray<T>> gather_levels(DeviceContext& gpu, const Lattice& lattice,
                                         const T* values) {
  std::vector<LevelArray<T>> levels;
  for (int level = made_from; level <= lattice.levels + 1; ++level) {
    LevelArray<T>& array = levels.emplace_back();
    array.layout = level_layout(lattice, level, sizeof(T));
    array.values = gpu.take<T>(array.layout.points());
    const dim3 block(32, RegionShape::block_threads / 32);
    const std::uint64_t rows = array.layout.points() / array.layout.extents[3];
    const dim3 grid(blocks_for(rows, block.y), 1, parts_of_row(array.layout.extents[3]));
    gather_level<<<grid, block, 0, gpu.stream()>>>(values, array);
    check_launch("gather_level");
  }
  return levels;
}

}  // namespace

template <class T>
ApproximateReconstruction<T> approximate(DeviceContext& gpu, FrameMemory& memory,
                                         const MultilevelParams& params,
                                         const FramePlan<T>& frame_plan, ClassPlan<T>* plans,
                                         const FittedClass* fits, const FrameInput<T>& frame,
                                         const T* values) {
  const Lattice& lattice = params.lattice;
  const ClassFinder finder(lattice);
  const std::vector<std::uint32_t> class_at = classes_by_slot(finder, make_schedule(lattice));
  const std::vector<Quantizer<T>> quantizers = level_quantizers<T>(params, frame.min, frame.max);
  memory.reset();
  T* const made = memory.take<T>(count_of(frame.extents));
  const ApproximateReconstruction<T> approximation{
      frame_plan.grid,
      finder,
      upload(gpu, class_at.data(), class_at.size()),
      plans,
      upload(gpu, quantizers.data(), quantizers.size()),
      values,
      made,
      made_from};

  const std::vector<LevelArray<T>> levels = gather_levels(gpu, lattice, values);
  const auto array_of = [&](int level) {
    return levels[static_cast<std::size_t>(level - made_from)];
  };
  const RegionShape shape = RegionShape::of(frame_plan.grid);
  std::vector<DeviceClass<T>> views;  // coarse classes come first
  views.reserve(frame_plan.classes.size());
  for (const ClassPlan<T>& c : frame_plan.classes) {
    if (c.points.level < made_from) break;
    views.push_back(view_of(c, lattice, array_of(c.points.level).layout, shape));
  }
  DeviceClass<T>* const on_device = upload(gpu, views.data(), views.size());
  const auto classes = static_cast<std::uint32_t>(frame_plan.classes.size());
  use_fits<<<blocks_for(classes, RegionShape::block_threads), RegionShape::block_threads, 0,
             gpu.stream()>>>(fits, classes, plans, static_cast<std::uint32_t>(views.size()),
                             on_device);
  check_launch("use_fits");
  for (const Pass& pass : frame_plan.passes) {
    if (pass.level < made_from) break;
    PassView<T> view =
        view_of<T>(array_of(pass.level), std::span(views).subspan(pass.first_class, pass.classes),
                   on_device + pass.first_class, shape);
    view.reach = params.reach;
    view.geometry = geometry_of(lattice, views[pass.first_class], view.array.layout);
    view.layered_axis = static_cast<unsigned>(std::max(lattice.layered_axis(), 0));
    if (view.geometry != Geometry::any) {
      approximate_cube(gpu, view, approximation, made);
      continue;
    }
    approximate_kernel<<<view.grid, RegionShape::block_threads, 0, gpu.stream()>>>(
        view, approximation, made);
    check_launch("approximate");
  }
  return approximation;
}

template ApproximateReconstruction<float> approximate(DeviceContext&, FrameMemory&,
                                                      const MultilevelParams&,
                                                      const FramePlan<float>&, ClassPlan<float>*,
                                                      const FittedClass*, const FrameInput<float>&,
                                                      const float*);
template ApproximateReconstruction<double> approximate(DeviceContext&, FrameMemory&,
                                                       const MultilevelParams&,
                                                       const FramePlan<double>&, ClassPlan<double>*,
                                                       const FittedClass*,
                                                       const FrameInput<double>&, const double*);

}  // namespace cuszi::gpu

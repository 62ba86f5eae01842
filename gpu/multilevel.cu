#include <algorithm>

#include "core/encode_session.hpp"
#include "gpu/cube_point.cuh"
#include "gpu/multilevel.cuh"

namespace cuszi::gpu {

namespace {

/// Whether the classes of a level are those of cube_point.cuh.
bool is_cube(const Lattice& lattice, const LevelLayout& layout) {
  if (lattice.layered_axis() >= 0 || lattice.rank != 3 || layout.odd == 0) return false;
  const Index4& frame = lattice.extents;
  return frame[0] * frame[1] * frame[2] * frame[3] <= most_cube_points &&
         layout.extents[0] * layout.extents[1] <= most_cube_slices &&
         std::all_of(layout.extents.begin() + 1, layout.extents.end(), [](std::uint64_t extent) {
           return extent >= least_cube && extent <= most_cube;
         });
}

constexpr unsigned threads = 256;

/// Threads x along rows, y over rows, which blocks take in turn.
template <class T>
__global__ void __launch_bounds__(threads)
    error_sum_kernel(__grid_constant__ const LevelArray<T> restored, const T* original,
                     RankedBits missing, double units, unsigned long long* sum) {
  const LevelLayout& layout = restored.layout;
  const std::uint64_t width = layout.extents[3];
  const std::uint64_t rows = layout.points() / width;
  std::int64_t mine = 0;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * blockDim.y + threadIdx.y; row < rows;
       row += std::uint64_t{gridDim.x} * blockDim.y) {
    for (std::uint64_t x = threadIdx.x; x < width; x += blockDim.x) {
      const std::uint64_t point = row * width + x;
      if (missing.words != nullptr && missing.test(point)) continue;
      const T value = restored.values[row * width + layout.place_in_row(x)];
      mine +=
          error_in_units(static_cast<double>(original[point]), static_cast<double>(value), units);
    }
  }
  for (int step = 16; step != 0; step /= 2) mine += __shfl_down_sync(~0U, mine, step);
  if (threadIdx.x == 0) atomicAdd(sum, static_cast<unsigned long long>(mine));
}

}  // namespace

template <class T>
std::int64_t error_sum(Work& work, const LevelArray<T>& restored, const T* original,
                       const RankedBits& missing, double bound) {
  constexpr unsigned blocks = 132 * 8;
  auto* const sum = work.take_zeroed<unsigned long long>(1);
  error_sum_kernel<T><<<blocks, dim3(32, threads / 32), 0, work.stream()>>>(
      restored, original, missing, error_units / bound, sum);
  check_launch("error_sum");
  const unsigned long long* const on_host = work.download(sum, 1);
  work.sync();
  return static_cast<std::int64_t>(*on_host);
}

template std::int64_t error_sum(Work&, const LevelArray<float>&, const float*, const RankedBits&,
                                double);
template std::int64_t error_sum(Work&, const LevelArray<double>&, const double*, const RankedBits&,
                                double);

template <class T>
LevelFrame<T>::LevelFrame(Work& work, FrameMemory& memory, const MultilevelParams& params,
                          double min, double max, T* finest)
    : work_(work), lattice_(params.lattice), plan_(plan_frame<T>(params, min, max)) {
  make_arrays(memory, finest);
  make_views(params.reach);
  starts_.push_back(0);
  for (const Pass& pass : plan_.passes) starts_.push_back(starts_.back() + pass.points);
  if (lattice_.finest == 1) listed_ = memory.take<T>(starts_[plan_.coarse_passes]);
}

template <class T>
void LevelFrame<T>::make_arrays(FrameMemory& memory, T* finest) {
  for (int level = lattice_.finest; level <= lattice_.levels + 1; ++level) {
    LevelArray<T> array;
    array.layout = level_layout(lattice_, level, sizeof(T));
    const std::uint64_t points = array.layout.points();
    array.values = level == lattice_.finest ? finest : memory.take<T>(points);
    array.magnitudes = memory.take<std::uint8_t>(points);
    arrays_.push_back(array);
  }
}

template <class T>
void LevelFrame<T>::make_views(int reach) {
  constexpr std::uint64_t most_slabs = 65535;
  const RegionShape shape = RegionShape::of(plan_.grid);
  for (const ClassPlan<T>& c : plan_.classes) {
    classes_.push_back(view_of(c, lattice_, array(c.points.level).layout, shape));
  }
  const ClassView<T>* const on_device = work_.upload(classes_.data(), classes_.size());
  for (const Pass& pass : plan_.passes) {
    PassView<T> view;
    view.array = array(pass.level);
    view.classes = on_device + pass.first_class;
    view.host_classes = classes_.data() + pass.first_class;
    view.class_count = pass.classes;
    view.shape = shape;
    view.is_cube =
        classes_[pass.first_class].plan.points.order != 0 && is_cube(lattice_, view.array.layout);
    view.reach = reach;
    std::uint64_t rows = 1;
    std::uint64_t slabs = 1;
    for (std::uint32_t i = 0; i < pass.classes; ++i) {
      const Index4& regions = classes_[pass.first_class + i].regions;
      rows = std::max(rows, regions[2] * regions[3]);
      slabs = std::max(slabs, regions[0] * regions[1]);
    }
    view.grid =
        dim3(grid_of(rows), pass.classes, static_cast<unsigned>(std::min(slabs, most_slabs)));
    views_.push_back(view);
  }
}

template <class T>
void LevelFrame<T>::enter(int number) {
  const int level = pass(number).level;
  if (number == 0 || pass(number - 1).level == level) return;
  refine(work_, lattice_, array(level + 1), array(level));
}

template <class T>
void LevelFrame<T>::leave() {
  join_rows(work_, arrays_.front().layout, arrays_.front().values);
}

template <class T>
Bytes LevelFrame<T>::coarse_values() const {
  return {reinterpret_cast<const std::byte*>(listed_), starts_[plan_.coarse_passes] * sizeof(T)};
}

template class LevelFrame<float>;
template class LevelFrame<double>;

}  // namespace cuszi::gpu

#include "core/encode_session.hpp"
#include "gpu/multilevel.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned threads = 256;

/// Threads x along rows, y over rows, which blocks x take in turn, and blocks z parts of long ones.
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
    for (std::uint64_t x = std::uint64_t{blockIdx.z} * blockDim.x + threadIdx.x; x < width;
         x += std::uint64_t{gridDim.z} * blockDim.x) {
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
  constexpr std::uint64_t most_blocks = 132 * 8;
  const dim3 block(32, threads / 32);
  const std::uint64_t width = restored.layout.extents[3];
  const std::uint64_t rows = restored.layout.points() / width;
  const dim3 grid(static_cast<unsigned>(std::min(ceil_div(rows, block.y), most_blocks)), 1,
                  parts_of_row(width));
  auto* const sum = work.take_zeroed<unsigned long long>(1);
  error_sum_kernel<T>
      <<<grid, block, 0, work.stream()>>>(restored, original, missing, error_units / bound, sum);
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
  const RegionShape shape = RegionShape::of(plan_.grid);
  for (const ClassPlan<T>& c : plan_.classes) {
    classes_.push_back(view_of(c, lattice_, array(c.points.level).layout, shape));
  }
  const ClassView<T>* const on_device = work_.upload(classes_.data(), classes_.size());
  for (const Pass& pass : plan_.passes) {
    PassView<T> view =
        view_of<T>(array(pass.level), std::span(classes_).subspan(pass.first_class, pass.classes),
                   on_device + pass.first_class, shape);
    view.geometry = geometry_of(lattice_, classes_[pass.first_class], view.array.layout);
    view.reach = reach;
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

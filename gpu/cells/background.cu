#include <cub/block/block_radix_sort.cuh>
#include <limits>

#include "core/tuning/fit_sample.hpp"
#include "gpu/cells/cells.cuh"
#include "gpu/cells/tuning.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned own_values = sample_points / CellsPolicy::background_threads;  ///< of a thread

template <class T>
using SampleSort =
    cub::BlockRadixSort<T, CellsPolicy::background_threads, static_cast<int>(own_values)>;

template <class T>
union BackgroundMemory {
  typename SampleSort<T>::TempStorage sort;
  T sorted[sample_points];
};

/// The end of the run of equal values that `sorted[first]` is of.
template <class T>
__device__ unsigned end_of_run(const T* sorted, unsigned first, unsigned count) {
  unsigned in_run = first;
  unsigned behind = count;
  while (behind - in_run > 1) {
    const unsigned middle = (in_run + behind) / 2;
    (sorted[middle] == sorted[first] ? in_run : behind) = middle;
  }
  return behind;
}

/// A thread block a frame. Missing values are sorted behind the others.
template <class T, class Frames>
__global__ void __launch_bounds__(CellsPolicy::background_threads)
    find_background(const __grid_constant__ Frames frames) {
  extern __shared__ uint4 background_memory[];
  auto& memory = *reinterpret_cast<BackgroundMemory<T>*>(background_memory);
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  __shared__ unsigned count;
  __shared__ unsigned longest;  ///< length of a run, then how far its begin is from the end
  unsigned unused;
  const BackgroundTask<T>& task = frames.find(shared, unused);
  if (threadIdx.x == 0) count = longest = 0;
  __syncthreads();
  const std::uint64_t wanted = sample_size(task.points);
  T values[own_values];
  unsigned present = 0;
  CUSZI_UNROLL
  for (unsigned i = 0; i < own_values; ++i) {
    const std::uint64_t k = i * CellsPolicy::background_threads + threadIdx.x;
    values[i] = std::numeric_limits<T>::infinity();
    if (k >= wanted) continue;
    const T value = task.values[sampled_point(k, wanted, task.points)];
    if (task.missing(value)) continue;
    values[i] = value + T(0);  // never -0
    ++present;
  }
  atomicAdd(&count, present);
  SampleSort<T>(memory.sort).Sort(values);
  __syncthreads();
  for (unsigned i = 0; i < own_values; ++i) memory.sorted[threadIdx.x * own_values + i] = values[i];
  __syncthreads();
  const T* const sorted = memory.sorted;
  const unsigned least = count / 16 + (count % 16 != 0 ? 1 : 0);  // of a background
  for (unsigned i = 0; i < own_values; ++i) {
    const unsigned first = threadIdx.x * own_values + i;
    if (first >= count || first + least > count || sorted[first + least - 1] != sorted[first])
      continue;
    if (first > 0 && sorted[first - 1] == sorted[first]) continue;
    const unsigned length = end_of_run(sorted, first, count) - first;
    atomicMax(&longest, length * sample_points + (sample_points - 1 - first));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const unsigned first = sample_points - 1 - longest % sample_points;
  *task.background = longest == 0 ? 0
                                  : background_of(static_cast<double>(sorted[first]),
                                                  longest / sample_points, count);
}

}  // namespace

template <class T>
void find_backgrounds(DeviceContext& gpu, const FrameTasks<BackgroundTask<T>>& frames) {
  frames.visit([&]<class Frames>(const Frames& tasks) {
    auto* const kernel = find_background<T, Frames>;
    constexpr std::size_t shared = sizeof(BackgroundMemory<T>);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
          "allow shared memory");
    kernel<<<dim3(1, frames.count()), CellsPolicy::background_threads, shared, gpu.stream()>>>(
        tasks);
  });
  check_launch("find_background");
}

template void find_backgrounds(DeviceContext&, const FrameTasks<BackgroundTask<float>>&);
template void find_backgrounds(DeviceContext&, const FrameTasks<BackgroundTask<double>>&);

}  // namespace cuszi::gpu

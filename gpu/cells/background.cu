#include <bit>
#include <limits>

#include "core/tuning/fit_sample.hpp"
#include "gpu/cells/cells.cuh"
#include "gpu/cells/tuning.cuh"
#include "gpu/runtime/extremes.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned threads = CellsPolicy::background_threads;
constexpr unsigned own_values = sample_points / threads;  ///< of a thread
constexpr unsigned slots = sample_points;
constexpr unsigned slot_bits = 13;
static_assert(slots == 1U << slot_bits);

/// Whether this is the first of some lanes of its warp.
__device__ bool is_first_of(unsigned lanes) {
  return (threadIdx.x % 32) + 1 == static_cast<unsigned>(__ffs(static_cast<int>(lanes)));
}

/// How often values come, by their bits.
template <class T>
struct ValueCounts {
  using Bits = typename IntegerBits<T>::Bits;
  static constexpr Bits none = ~Bits{0};  ///< of no value that is not missing

  Bits values[slots];
  std::uint32_t counts[slots];

  __device__ static unsigned slot_of(Bits value) {
    const auto folded = static_cast<std::uint32_t>(value ^ std::uint64_t{value} >> 32);
    return folded * 0x9E3779B1U >> (32 - slot_bits);
  }

  __device__ void clear() {
    for (unsigned i = threadIdx.x; i < slots; i += threads) {
      values[i] = none;
      counts[i] = 0;
    }
    __syncthreads();
  }
  /// Counts values that have the same slot together: once for those of a warp that are equal. By
  /// all lanes; `none` is not counted.
  __device__ void add_to_slot(Bits value) {
    const unsigned equal = __match_any_sync(~0U, value);
    if (value != none && is_first_of(equal)) atomicAdd(counts + slot_of(value), __popc(equal));
  }
  /// Counts each value apart, in the first slot from its own on that is free.
  __device__ void add_value(Bits value) {
    const unsigned equal = __match_any_sync(~0U, value);
    if (value == none || !is_first_of(equal)) return;
    unsigned slot = slot_of(value);
    for (;; slot = (slot + 1) % slots) {
      const Bits before = swap_if_none(values + slot, value);
      if (before == none || before == value) break;
    }
    atomicAdd(counts + slot, __popc(equal));
  }

 private:
  __device__ static std::uint32_t swap_if_none(std::uint32_t* at, std::uint32_t value) {
    return atomicCAS(at, none, value);
  }
  __device__ static std::uint64_t swap_if_none(std::uint64_t* at, std::uint64_t value) {
    return atomicCAS(reinterpret_cast<unsigned long long*>(at), none, value);
  }
};

/// Counts the octaves that the values of a warp are in.
__device__ void count_octave(bool exists, unsigned octave, std::uint32_t* counts) {
  const unsigned equal = __match_any_sync(~0U, exists ? octave : sample_octaves);
  if (exists && is_first_of(equal))
    atomicAdd(counts + octave, static_cast<unsigned>(__popc(equal)));
}

/// Loads the sampled values of a thread.
template <class T>
__device__ __forceinline__ void load_sample(const BackgroundTask<T>& task, std::uint64_t wanted,
                                            T (&seen)[own_values]) {
  CUSZI_UNROLL
  for (unsigned i = 0; i < own_values; ++i) {  // none waits for another
    const std::uint64_t k = i * threads + threadIdx.x;
    const std::uint64_t point = wanted == sample_points
                                    ? sampled_point(k, sample_points, task.points)
                                    : sampled_point(k, wanted, task.points);
    seen[i] = k < wanted ? task.values[point] : std::numeric_limits<T>::quiet_NaN();
  }
}

/// Adds the extremes of the threads of a warp to those of the sample.
template <class T>
__device__ __forceinline__ void include_warp(T least, T largest, SharedExtremes& extremes) {
  for (int half = 16; half > 0; half /= 2) {
    least = std::fmin(least, __shfl_down_sync(~0U, least, half));
    largest = std::fmax(largest, __shfl_down_sync(~0U, largest, half));
  }
  if (threadIdx.x % 32 == 0 && least <= largest)
    extremes.include(static_cast<double>(least), static_cast<double>(largest));
}

/// Counts how far values are from the extremes of the sample.
template <class T>
__device__ __forceinline__ void count_octaves(const T (&seen)[own_values], double sampled_min,
                                              double sampled_max,
                                              std::uint32_t (&near)[2][sample_octaves]) {
  for (const T value : seen) {
    const bool exists = value == value;
    const auto at = static_cast<double>(value);
    count_octave(exists, octave_of(at - sampled_min, sampled_max - sampled_min), near[0]);
    count_octave(exists, octave_of(sampled_max - at, sampled_max - sampled_min), near[1]);
  }
}

/// Finds how often the commonest of some values comes, and the lowest that comes so often, in
/// order: 0 and all ones before. `none` is no value.
template <class T, class Bits>
__device__ __forceinline__ void find_commonest(const Bits (&values)[own_values],
                                               ValueCounts<T>& counts, unsigned& most,
                                               unsigned long long& lowest) {
  counts.clear();
  CUSZI_UNROLL
  for (const Bits value : values) counts.add_value(value);
  __syncthreads();
  unsigned own_most = 0;
  for (unsigned i = threadIdx.x; i < slots; i += threads)
    own_most = max(own_most, counts.counts[i]);
  atomicMax(&most, own_most);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < slots; i += threads) {
    if (counts.counts[i] != most) continue;
    const auto value = static_cast<double>(std::bit_cast<T>(counts.values[i]));
    atomicMin(&lowest, static_cast<unsigned long long>(in_order(value)));
  }
  __syncthreads();
}

/// A thread block a frame. Most fields have no common value: then no slot is common either.
template <class T, class Frames>
__global__ void __launch_bounds__(threads) find_background(const __grid_constant__ Frames frames) {
  using Counts = ValueCounts<T>;
  using Bits = typename Counts::Bits;
  extern __shared__ uint4 background_memory[];
  auto& counts = *reinterpret_cast<Counts*>(background_memory);
  __shared__ alignas(16) std::uint32_t shared[Frames::shared_words];
  __shared__ unsigned count;
  __shared__ SharedExtremes extremes;
  // Distances to the least value and to the largest.
  __shared__ std::uint32_t near[2][sample_octaves];
  __shared__ unsigned most;
  __shared__ unsigned long long lowest;
  unsigned unused;
  const BackgroundTask<T>& task = frames.find(shared, unused);
  if (threadIdx.x == 0) {
    count = most = 0;
    extremes.set(false, 0, 0);
    lowest = ~0ULL;
  }
  if (threadIdx.x < sample_octaves) near[0][threadIdx.x] = near[1][threadIdx.x] = 0;
  counts.clear();
  const std::uint64_t wanted = sample_size(task.points);
  T seen[own_values];  // not a number: missing
  load_sample(task, wanted, seen);
  Bits values[own_values];
  unsigned present = 0;
  T least = std::numeric_limits<T>::infinity();
  T largest = -least;
  CUSZI_UNROLL
  for (unsigned i = 0; i < own_values; ++i) {
    values[i] = Counts::none;
    if (task.missing(seen[i])) {
      seen[i] = std::numeric_limits<T>::quiet_NaN();
      continue;
    }
    values[i] = std::bit_cast<Bits>(seen[i] + T(0));  // never -0
    least = std::fmin(least, seen[i]);
    largest = std::fmax(largest, seen[i]);
    ++present;
  }
  CUSZI_UNROLL
  for (const Bits value : values) counts.add_to_slot(value);
  atomicAdd(&count, present);
  include_warp(least, largest, extremes);
  __syncthreads();
  bool has_common = false;
  CUSZI_UNROLL
  for (Bits& value : values) {
    if (value == Counts::none) continue;
    if (!is_common(counts.counts[Counts::slot_of(value)], count)) value = Counts::none;
    has_common |= value != Counts::none;
  }
  const double sampled_min = extremes.any() ? extremes.min() + 0.0 : 0;  // never -0
  const double sampled_max = extremes.any() ? extremes.max() + 0.0 : 0;
  count_octaves(seen, sampled_min, sampled_max, near);
  const auto tell = [&](double background) {  // by all threads, after another barrier
    CellsSample& sample = *task.sample;
    if (threadIdx.x < sample_octaves) {
      sample.near_min[threadIdx.x] = near[0][threadIdx.x];
      sample.near_max[threadIdx.x] = near[1][threadIdx.x];
    }
    if (threadIdx.x != 0) return;
    sample.background = background;
    sample.min = sampled_min;
    sample.max = sampled_max;
  };
  if (__syncthreads_or(has_common) == 0) return tell(0);
  find_commonest(values, counts, most, lowest);
  tell(background_of(from_order(lowest), most, count));
}

}  // namespace

template <class T>
void find_backgrounds(DeviceContext& gpu, const FrameTasks<BackgroundTask<T>>& frames) {
  frames.visit([&]<class Frames>(const Frames& tasks) {
    auto* const kernel = find_background<T, Frames>;
    constexpr std::size_t shared = sizeof(ValueCounts<T>);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
          "allow shared memory");
    kernel<<<dim3(1, frames.count()), threads, shared, gpu.stream()>>>(tasks);
  });
  check_launch("find_background");
}

template void find_backgrounds(DeviceContext&, const FrameTasks<BackgroundTask<float>>&);
template void find_backgrounds(DeviceContext&, const FrameTasks<BackgroundTask<double>>&);

}  // namespace cuszi::gpu

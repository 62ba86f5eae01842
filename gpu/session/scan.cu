#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gpu/field/seen_range.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/extremes.cuh"
#include "gpu/runtime/launch.cuh"
#include "gpu/runtime/many.cuh"
#include "gpu/session/scan.cuh"

namespace cuszi::gpu {

namespace {

/// The threads that a multiprocessor holds at a time.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && \
    __CUDA_ARCH__ != 1000 && __CUDA_ARCH__ != 1030
constexpr unsigned threads_of_multiprocessor = 1536;
#else
constexpr unsigned threads_of_multiprocessor = 2048;
#endif

struct ScanPolicy {
  static constexpr unsigned threads = ItemPolicy::threads;
  /// Half of those that fit, so that none waits for what runs beside.
  static constexpr unsigned blocks_of_multiprocessor = 4;
  static constexpr unsigned resident_blocks =
      std::min(2 * blocks_of_multiprocessor, threads_of_multiprocessor / threads);
  static constexpr unsigned in_flight = 4;  ///< packs of a thread that are waited for together
};

/// What travels to the host, in one copy.
template <class T>
struct ScanResult {
  SeenRange<T> range;
  std::uint32_t blocks_done;
  SharedExtremes sampled;
  SplineErrors splines;
  std::uint32_t octaves[ErrorOctaves::octaves];
};

template <class T>
struct alignas(16) Pack {
  static constexpr unsigned size = 16 / sizeof(T);
  T values[size];
};

/// The extremes of the sample's points from `first` on, `step` apart, with those of other blocks.
template <class T, class S>
__device__ void add_sample(const S* values, std::uint64_t count, const MissingTest<T>& missing,
                           std::uint64_t first, std::uint64_t step, SharedExtremes& sampled) {
  SeenRange<T> range = empty_range<T>();
  for (std::uint64_t k = first; k < sample_size(count); k += step)
    include(range, converted_to<T>(values[magnitude_sample(k, count)]), missing);
  range = merge_block<ScanPolicy::threads>(range);
  if (threadIdx.x == 0 && range.min <= range.max)
    sampled.include(static_cast<double>(range.min), static_cast<double>(range.max));
}

/// A range per thread block; the last block puts them together.
template <class T, class S>
__global__ void __launch_bounds__(ScanPolicy::threads, ScanPolicy::resident_blocks)
    find_ranges(const S* values, std::uint64_t count, MissingTest<T> missing, bool samples,
                SeenRange<T>* ranges, ScanResult<T>* result) {
  constexpr unsigned in_flight = ScanPolicy::in_flight;
  const std::uint64_t all = ItemPolicy::step();
  const std::uint64_t self = ItemPolicy::first();
  SeenRange<T> range = empty_range<T>();
  std::uint64_t done = 0;
  if (reinterpret_cast<std::uintptr_t>(values) % sizeof(Pack<S>) == 0) {
    const auto* const packs = reinterpret_cast<const Pack<S>*>(values);
    const std::uint64_t rounds = count / Pack<S>::size / (all * in_flight);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      Pack<S> pack[in_flight];
      for (unsigned i = 0; i < in_flight; ++i)
        pack[i] = packs[(round * in_flight + i) * all + self];
      for (const Pack<S>& p : pack) {
        for (const S value : p.values) include(range, converted_to<T>(value), missing);
      }
    }
    done = rounds * all * in_flight * Pack<S>::size;
  }
  for (std::uint64_t i = done + self; i < count; i += all)
    include(range, converted_to<T>(values[i]), missing);
  range = merge_block<ScanPolicy::threads>(range);
  if (samples && std::uint64_t{blockIdx.x} * ScanPolicy::threads < sample_size(count))
    add_sample(values, count, missing, self, all, result->sampled);

  if (threadIdx.x == 0) ranges[blockIdx.x] = range;
  if (!is_last_block(&result->blocks_done, gridDim.x)) return;
  range = empty_range<T>();
  for (unsigned i = threadIdx.x; i < gridDim.x; i += ScanPolicy::threads) {
    const volatile SeenRange<T>& one = ranges[i];
    merge(range, {one.min, one.max, one.missing});
  }
  range = merge_block<ScanPolicy::threads>(range);
  if (threadIdx.x == 0) result->range = range;
}

/// The absolute error of the draft's prediction at a point, negative if it is not to be counted.
template <class T>
__device__ double sampled_error(const LorenzoParams& draft, const Extents3& extents,
                                const T* values, const Extents3& at,
                                const MissingTest<T>& missing) {
  return sampled_lorenzo_error(draft, extents, values, at, missing);
}
template <class T>
__device__ double sampled_error(const InterpParams& draft, const Extents3& extents, const T* values,
                                const Extents3& at, const MissingTest<T>& missing) {
  return sampled_interp_error(draft, extents, values, at, missing);
}

template <class T, class Params>
__global__ void sample_errors(Params draft, Extents3 extents, const T* values,
                              MissingTest<T> missing, ScanResult<T>* result) {
  const std::uint64_t k = ItemPolicy::first();
  const std::uint64_t point = sample_point(k, count_of(extents));
  if (missing(values[point])) return;
  const double error =
      sampled_error(draft, extents, values, coordinates_of(point, extents), missing);
  if (error >= 0) atomicAdd(result->octaves + ErrorOctaves::octave_of(error), 1U);
}

/// One thread block per axis, a thread per sample point; the sums in the order of the points.
template <class T>
__global__ void sample_splines(Extents3 extents, const T* values, MissingTest<T> missing,
                               ScanResult<T>* result) {
  __shared__ std::array<double, 2> errors[spline_sample_points];
  const unsigned axis = blockIdx.x;
  if (extents[axis] < 7) return;
  std::array<double, 2> error{};
  profile_splines(extents, values, spline_sample_point(threadIdx.x, extents), axis, missing, error);
  errors[threadIdx.x] = error;
  __syncthreads();
  if (threadIdx.x >= 2) return;
  double sum = 0;
  for (const auto& e : errors) sum += e[threadIdx.x];
  result->splines.sum[axis][threadIdx.x] = sum;
}

/// The extremes of a sample, a part for each thread block; or of the magnitudes that are not 0.
template <bool of_magnitudes, class T, class S>
__global__ void __launch_bounds__(ScanPolicy::threads)
    sample_extremes(const S* values, std::uint64_t points, MissingTest<T> missing,
                    SharedExtremes* sampled) {
  SeenRange<T> range = empty_range<T>();
  const std::uint64_t k = ItemPolicy::first();
  if (k < sample_size(points)) {
    const T value = converted_to<T>(values[magnitude_sample(k, points)]);
    if (!of_magnitudes) {
      include(range, value, missing);
    } else if (value != 0 && !missing(value)) {
      include(range, magnitude_of(value), MissingTest<T>{});
    }
  }
  range = merge_block<ScanPolicy::threads>(range);
  if (threadIdx.x == 0) {
    sampled[blockIdx.x].set(range.min <= range.max, static_cast<double>(range.min),
                            static_cast<double>(range.max));
  }
}

/// The values of a frame of a batch, and what is found of it.
template <class T>
struct ScanTask {
  const T* values;
  std::uint64_t points;
  SharedExtremes* extremes;
  std::uint64_t* missing;  ///< how many points are
};

/// The values of a frame that a thread block of scan_frames() looks at.
constexpr std::uint64_t points_of_scan = 16 * 1024;

/// The ranges of frames.
template <class T>
__global__ void __launch_bounds__(ScanPolicy::threads, ScanPolicy::resident_blocks)
    scan_frames(const __grid_constant__ ManyFrames<ScanTask<T>> frames) {
  __shared__ alignas(std::uint64_t) std::uint32_t shared[ManyFrames<ScanTask<T>>::shared_words];
  unsigned block;
  const ScanTask<T>& task = frames.find(shared, block);
  const std::uint64_t first = block * points_of_scan;
  const std::uint64_t left = task.points - first;
  const std::uint64_t count = left < points_of_scan ? left : points_of_scan;
  const T* const values = task.values + first;
  const MissingTest<T> missing;
  SeenRange<T> range = empty_range<T>();
  std::uint64_t done = 0;
  if (reinterpret_cast<std::uintptr_t>(values) % sizeof(Pack<T>) == 0) {
    const auto* const packs = reinterpret_cast<const Pack<T>*>(values);
    const std::uint64_t whole = count / Pack<T>::size;
#pragma unroll 4
    for (std::uint64_t i = threadIdx.x; i < whole; i += ScanPolicy::threads) {
      const Pack<T> pack = packs[i];
      for (const T value : pack.values) include(range, value, missing);
    }
    done = whole * Pack<T>::size;
  }
  for (std::uint64_t i = done + threadIdx.x; i < count; i += ScanPolicy::threads)
    include(range, values[i], missing);
  range = merge_block<ScanPolicy::threads>(range);
  if (threadIdx.x != 0) return;
  if (range.min <= range.max)
    task.extremes->include(static_cast<double>(range.min), static_cast<double>(range.max));
  if (range.missing != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(task.missing), range.missing);
}

/// The extremes of a sample of each frame; a thread block per frame.
template <class T>
__global__ void __launch_bounds__(ScanPolicy::threads) sample_frames(const ScanTask<T>* frames) {
  const auto [values, points, extremes, unused] = frames[blockIdx.x];
  const SeenRange<T> range = sample_of_block<ScanPolicy::threads>(values, points);
  if (threadIdx.x != 0) return;
  extremes->set(range.min <= range.max, static_cast<double>(range.min),
                static_cast<double>(range.max));
}

/// Values that are drawn of a frame: at given points, or at those of a sample.
template <class T>
struct DrawTask {
  const T* values;
  std::uint64_t points;
  double* drawn;
  std::uint64_t count;
  const std::uint64_t* at;

  __device__ std::uint64_t point(std::uint64_t k) const {
    if (at != nullptr) return at[k];
    return count == points ? k : sample_point(k, points);
  }
};

/// A thread block per frame.
template <class T>
__global__ void __launch_bounds__(ScanPolicy::threads) draw_from_frames(const DrawTask<T>* frames) {
  const DrawTask<T> task = frames[blockIdx.x];
  for (std::uint64_t k = threadIdx.x; k < task.count; k += ScanPolicy::threads)
    task.drawn[k] = static_cast<double>(task.values[task.point(k)]);
}

double largest_magnitude(const SharedExtremes& sampled) {
  return sampled.any() ? std::max(std::fabs(sampled.min()), std::fabs(sampled.max())) : 0;
}

template <class T>
void launch_samples(DeviceContext& gpu, const Extents3& extents, const T* values,
                    const MissingTest<T>& missing, const PredictorParams& draft,
                    ScanResult<T>* result) {
  std::visit(
      [&]<class Params>(const Params& d) {
        if constexpr (has_one_pass<Params>) {
          static_assert(sample_points % ItemPolicy::threads == 0);
          launch_items(gpu, "sample_errors", sample_points, sample_errors<T, Params>, d, extents,
                       values, missing, result);
        }
      },
      draft);
  if (!std::holds_alternative<InterpParams>(draft)) return;
  sample_splines<<<3, spline_sample_points, 0, gpu.stream()>>>(extents, values, missing, result);
  check_launch("sample_splines");
}

struct MarkPolicy {
  static constexpr unsigned words = 8;           ///< of a warp
  static constexpr unsigned halves = 2 * words;  ///< 32 points, which are loaded before any is used
  static_assert(RankedBits::block_words % words == 0);
};

/// A warp per few words of the set.
template <class T>
__global__ void mark_missing(const T* values, std::uint64_t points, MissingTest<T> missing,
                             RankedBits bits) {
  constexpr unsigned halves = MarkPolicy::halves;
  const std::uint64_t first_half = ItemPolicy::first() / 32 * halves;
  const unsigned lane = threadIdx.x % 32;
  const auto point_of = [&](unsigned half) { return (first_half + half) * 32 + lane; };
  if (first_half >= bits.blocks * RankedBits::block_words * 2) return;
  T value[halves];
#pragma unroll
  for (unsigned half = 0; half < halves; ++half) {
    value[half] = point_of(half) < points ? values[point_of(half)] : T(0);
  }
  std::uint32_t own = 0;
#pragma unroll
  for (unsigned half = 0; half < halves; ++half) {
    const bool is_missing = point_of(half) < points && missing(value[half]);
    const std::uint32_t all = __ballot_sync(~0U, is_missing);
    if (lane == half) own = all;
  }
  if (lane < halves) reinterpret_cast<std::uint32_t*>(bits.words)[first_half + lane] = own;
}

}  // namespace

template <class T>
FieldScan scan_frame(DeviceContext& gpu, const Extents3& extents, const T* values,
                     const StoredValues<const std::byte>& stored, const FillValues& fills,
                     const PredictorParams& draft, const std::function<void()>& meanwhile) {
  const MissingTest<T> missing(fills);
  const std::uint64_t points = count_of(extents);
  const unsigned blocks =
      std::min(gpu.device().multiprocessors * ScanPolicy::blocks_of_multiprocessor,
               blocks_for(points, ScanPolicy::threads));
  auto* const ranges = gpu.take<SeenRange<T>>(blocks);
  auto* const result = gpu.take_zeroed<ScanResult<T>>(1);
  const bool samples = std::holds_alternative<TilesParams>(draft);
  visit_values(values, stored, [&](const auto* read) {
    find_ranges<<<blocks, ScanPolicy::threads, 0, gpu.stream()>>>(read, points, missing, samples,
                                                                  ranges, result);
  });
  check_launch("find_ranges");
  launch_samples(gpu, extents, values, missing, draft, result);
  const ScanResult<T>& found = *download(gpu, result, 1);
  meanwhile();
  gpu.sync();

  FieldScan scan;
  scan.missing = found.range.missing;
  if (scan.missing == points) return scan;
  scan.min = static_cast<double>(found.range.min) + 0.0;  // -0 and 0 must not depend on the order
  scan.max = static_cast<double>(found.range.max) + 0.0;
  scan.sampled = largest_magnitude(found.sampled);
  std::copy(std::begin(found.octaves), std::end(found.octaves), scan.errors.counts().begin());
  if (std::holds_alternative<InterpParams>(draft)) {
    scan.splines = found.splines;
    for (unsigned axis = 0; axis < 3; ++axis) scan.splines.profiled[axis] = extents[axis] >= 7;
  }
  return scan;
}

namespace {

template <bool of_magnitudes, class T, class S>
SharedExtremes extremes_of_sample(DeviceContext& gpu, const S* values, std::uint64_t points,
                                  const MissingTest<T>& missing) {
  const unsigned blocks = blocks_for(sample_size(points), ScanPolicy::threads);
  auto* const parts = gpu.take_pinned<SharedExtremes>(blocks);  // which the device reaches too
  sample_extremes<of_magnitudes>
      <<<blocks, ScanPolicy::threads, 0, gpu.stream()>>>(values, points, missing, parts);
  check_launch("sample_extremes");
  gpu.sync();
  SharedExtremes all{};
  for (const SharedExtremes& part : std::span(parts, blocks)) all.include(part);
  return all;
}

}  // namespace

template <class T>
SampledRange sample_range(DeviceContext& gpu, const T* values,
                          const StoredValues<const std::byte>& stored, std::uint64_t points) {
  const SharedExtremes all = visit_values(values, stored, [&](const auto* read) {
    return extremes_of_sample<false>(gpu, read, points, MissingTest<T>{});
  });
  if (!all.any()) return {};
  return {all.min(), all.max(), largest_magnitude(all)};
}

template <class T>
MagnitudeRange sample_magnitudes(DeviceContext& gpu, const T* values, std::uint64_t points,
                                 const FillValues& fills) {
  const SharedExtremes all = extremes_of_sample<true>(gpu, values, points, MissingTest<T>(fills));
  if (!all.any()) return {};
  return {all.min(), all.max()};
}

namespace {

template <class T>
const T* values_of(const BatchFrame& frame) {
  return reinterpret_cast<const T*>(frame.values.data());
}

std::optional<BatchRange> range_of(const SharedExtremes& extremes) {
  if (!extremes.any()) return std::nullopt;
  return BatchRange{extremes.min(), extremes.max()};
}

}  // namespace

template <class T>
std::vector<std::optional<BatchRange>> scan_batch(DeviceContext& gpu,
                                                  std::span<const BatchFrame> frames) {
  const std::size_t count = frames.size();
  auto* const extremes = reinterpret_cast<SharedExtremes*>(
      gpu.take_zeroed<std::byte>(count * (sizeof(SharedExtremes) + sizeof(std::uint64_t))));
  auto* const missing = reinterpret_cast<std::uint64_t*>(extremes + count);
  std::vector<std::uint32_t> blocks;
  std::uint64_t all = 0;
  for (const BatchFrame& frame : frames) {
    blocks.push_back(grid_of(ceil_div(frame.shape.points(), points_of_scan)));
    all += blocks.back();
  }
  const auto tasks = bring_many<ScanTask<T>>(gpu, blocks, [&](std::size_t i) {
    return ScanTask<T>{values_of<T>(frames[i]), frames[i].shape.points(), extremes + i,
                       missing + i};
  });
  scan_frames<<<grid_of(all), ScanPolicy::threads, 0, gpu.stream()>>>(tasks);
  check_launch("scan_frames");
  const auto* const found = download(gpu, extremes, count);
  const auto* const found_missing = download(gpu, missing, count);
  gpu.sync();
  std::vector<std::optional<BatchRange>> ranges(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (found_missing[i] != 0) continue;
    ranges[i] = range_of(found[i]);
    if (!ranges[i]) continue;
    ranges[i]->min += 0.0;  // see scan_frame()
    ranges[i]->max += 0.0;
  }
  return ranges;
}

template <class T>
std::vector<std::optional<BatchRange>> sample_batch(DeviceContext& gpu,
                                                    std::span<const BatchFrame> frames) {
  const std::size_t count = frames.size();
  auto* const extremes = gpu.take<SharedExtremes>(count);
  auto* const staged = gpu.take_pinned<ScanTask<T>>(count);
  for (std::size_t i = 0; i < count; ++i)
    staged[i] = {values_of<T>(frames[i]), frames[i].shape.points(), extremes + i, nullptr};
  auto* const tasks = gpu.take<ScanTask<T>>(count);
  copy_pinned(gpu, tasks, staged, count);
  sample_frames<<<grid_of(count), ScanPolicy::threads, 0, gpu.stream()>>>(tasks);
  check_launch("sample_frames");
  const auto* const found = download(gpu, extremes, count);
  gpu.sync();
  std::vector<std::optional<BatchRange>> samples(count);
  std::transform(found, found + count, samples.begin(), range_of);
  return samples;
}

template <class T>
std::vector<std::span<const double>> draw_batch(DeviceContext& gpu,
                                                std::span<const BatchFrame> frames,
                                                std::span<const std::uint64_t> counts,
                                                const std::uint64_t* at) {
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  auto* const drawn = gpu.take<double>(all);
  auto* const staged = gpu.take_pinned<DrawTask<T>>(frames.size());
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    staged[i] = {values_of<T>(frames[i]), frames[i].shape.points(), drawn + first, counts[i],
                 at != nullptr ? at + first : nullptr};
    first += counts[i];
  }
  auto* const tasks = gpu.take<DrawTask<T>>(frames.size());
  copy_pinned(gpu, tasks, staged, frames.size());
  draw_from_frames<<<grid_of(frames.size()), ScanPolicy::threads, 0, gpu.stream()>>>(tasks);
  check_launch("draw_from_frames");
  const double* host = download(gpu, drawn, all);
  gpu.sync();
  std::vector<std::span<const double>> result;
  for (const std::uint64_t count : counts) {
    result.emplace_back(host, count);
    host += count;
  }
  return result;
}

template <class T>
MissingPoints<T> find_missing(DeviceContext& gpu, const T* values, const T* originals,
                              std::uint64_t points, const FillValues& fills, std::uint64_t count) {
  MissingPoints<T> missing{take_bits(gpu, points), gpu.take<T>(count)};
  const std::uint64_t words = missing.bits.blocks * RankedBits::block_words;
  launch_items(gpu, "mark_missing", words / MarkPolicy::words * 32, mark_missing<T>, values, points,
               MissingTest<T>(fills), missing.bits);
  rank_bits(gpu, missing.bits);
  for_each_bit(gpu, missing.bits,
               [originals, kept = missing.values] __device__(
                   std::uint64_t point, std::uint64_t rank) { kept[rank] = originals[point]; });
  return missing;
}

template FieldScan scan_frame(DeviceContext&, const Extents3&, const float*,
                              const StoredValues<const std::byte>&, const FillValues&,
                              const PredictorParams&, const std::function<void()>&);
template FieldScan scan_frame(DeviceContext&, const Extents3&, const double*,
                              const StoredValues<const std::byte>&, const FillValues&,
                              const PredictorParams&, const std::function<void()>&);
template SampledRange sample_range(DeviceContext&, const float*,
                                   const StoredValues<const std::byte>&, std::uint64_t);
template SampledRange sample_range(DeviceContext&, const double*,
                                   const StoredValues<const std::byte>&, std::uint64_t);
template MagnitudeRange sample_magnitudes(DeviceContext&, const float*, std::uint64_t,
                                          const FillValues&);
template MagnitudeRange sample_magnitudes(DeviceContext&, const double*, std::uint64_t,
                                          const FillValues&);
template std::vector<std::optional<BatchRange>> scan_batch<float>(DeviceContext&,
                                                                  std::span<const BatchFrame>);
template std::vector<std::optional<BatchRange>> sample_batch<float>(DeviceContext&,
                                                                    std::span<const BatchFrame>);
template std::vector<std::span<const double>> draw_batch<float>(DeviceContext&,
                                                                std::span<const BatchFrame>,
                                                                std::span<const std::uint64_t>,
                                                                const std::uint64_t*);
template std::vector<std::optional<BatchRange>> scan_batch<double>(DeviceContext&,
                                                                   std::span<const BatchFrame>);
template std::vector<std::optional<BatchRange>> sample_batch<double>(DeviceContext&,
                                                                     std::span<const BatchFrame>);
template std::vector<std::span<const double>> draw_batch<double>(DeviceContext&,
                                                                 std::span<const BatchFrame>,
                                                                 std::span<const std::uint64_t>,
                                                                 const std::uint64_t*);
template MissingPoints<float> find_missing(DeviceContext&, const float*, const float*,
                                           std::uint64_t, const FillValues&, std::uint64_t);
template MissingPoints<double> find_missing(DeviceContext&, const double*, const double*,
                                            std::uint64_t, const FillValues&, std::uint64_t);

}  // namespace cuszi::gpu

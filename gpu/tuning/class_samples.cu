#include "core/multilevel/code_position.hpp"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/tuning/class_samples.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned sample_threads = 128;
constexpr unsigned approximating_threads = 384;
static_assert(sample_threads >= Stencil::most_taps, "see has_unmade_neighbours()");

/// A sample's point.
template <class T>
struct SamplePoint {
  Index4 at{};
  std::uint64_t offset = 0;  ///< in the frame's array

  __device__ SamplePoint(const ClassSample<T>& sample, std::uint32_t k) {
    const PointClass& points = sample.plan->points;
    const std::uint64_t number = sampled_point(k, sample.samples, points.points());
    at = position_of(points, raster_point(points, number));
    offset = offset_of(*sample.grid, at);
  }
};

/// Completes the row of sample k, whose unknowns are there.
template <class T>
__device__ void keep(const ClassSample<T>& sample, std::uint32_t k, const Observation& seen) {
  double* const row = sample.row(k);
  row[sample.unknowns * sum_lanes] = seen.target;
  row[(sample.unknowns + 1) * sum_lanes] = seen.is_used ? 1 : 0;
  sample.curvature_keys[k] = curvature_key(seen.curvature, sample.bound);
}

/// Fills the last block of 32 samples.
template <class T>
__device__ void keep_none(const ClassSample<T>& sample, std::uint32_t k) {
  for (std::uint32_t i = 0; i < sample.unknowns; ++i) sample.row(k)[i * sum_lanes] = 0;
  keep(sample, k, {});
}

/// Observes sample k, the groups of whose neighbours have the sums that sums_at(its point) tells.
template <class T, class SumsAt>
__device__ void observe_sample(const ClassSample<T>& sample, std::uint32_t k, const T* originals,
                               const SumsAt& sums_at) {
  if (k >= sample.samples) {
    keep_none(sample, k);
    return;
  }
  const SamplePoint<T> point(sample, k);
  keep(sample, k,
       observe_point(*sample.plan, *sample.grid, point.at, originals[point.offset], sums_at(point),
                     sample.row(k), sum_lanes));
}

/// Observes sample k, which has these neighbours; they are those of the frame.
template <class T>
__device__ void observe_among(const ClassSample<T>& sample, std::uint32_t k, const T* originals,
                              const T* neighbours) {
  observe_sample(sample, k, originals, [&](const SamplePoint<T>& point) {
    return GroupSums(*sample.plan, *sample.grid, point.at, neighbours + point.offset);
  });
}

/// Observes samples among originals, one a thread.
template <class T>
__global__ void __launch_bounds__(sample_threads)
    observe_kernel(const ClassSample<T>* samples, const T* originals) {
  const ClassSample<T>& sample = samples[blockIdx.y];
  const std::uint32_t k = blockIdx.x * sample_threads + threadIdx.x;
  if (k < sample.blocks() * sum_lanes) observe_among(sample, k, originals, originals);
}

/// Whether some neighbours of this thread block's samples are not made yet. All threads ask.
template <class T>
__device__ bool has_unmade_neighbours(const ClassSample<T>& sample,
                                      const ApproximateReconstruction<T>& approximation) {
  const Stencil& stencil = sample.plan->stencil;
  const unsigned tap = threadIdx.x;
  return __syncthreads_or(tap < stencil.all_taps() &&
                          !approximation.has_made(sample.plan->points, stencil.taps[tap])) != 0;
}

/// Whether a sample has all its neighbours, and those all theirs.
template <class T>
__device__ bool is_interior(const ClassSample<T>& sample, const Index4& at) {
  Index4 margins = sample.plan->stencil_margins;
  std::uint64_t most = 0;
  for (const std::uint64_t margin : margins) most = max(most, margin);
  for (std::uint64_t& margin : margins) margin += margin != 0 ? most : 0;
  return is_inner(at, margins, sample.grid->extents);
}

/// How many samples of a class are interior the frame, and how many are not.
struct SampleCounts {
  std::uint32_t interior;
  std::uint32_t others;
};

/// Lists each class's samples, those interior the frame last, at the indices of their keys:
/// the others take a way of their own, for which whole warps would wait, and longer. `counts`, one
/// a class, begin with 0.
template <class T>
__global__ void __launch_bounds__(sample_threads)
    list_samples(const ClassSample<T>* samples,
                 __grid_constant__ const ApproximateReconstruction<T> approximation,
                 SampleCounts* counts, std::uint32_t* lists) {
  const ClassSample<T>& sample = samples[blockIdx.y];
  if (blockIdx.x * sample_threads >= sample.samples ||
      !has_unmade_neighbours(sample, approximation))
    return;
  std::uint32_t* const list = lists + (sample.curvature_keys - samples[0].curvature_keys);
  const unsigned below = (1U << threadIdx.x % 32) - 1;
  const std::uint32_t k = blockIdx.x * sample_threads + threadIdx.x;
  const bool is_there = k < sample.samples;
  const bool interior =
      is_there && is_interior(sample, SamplePoint<T>(sample, is_there ? k : 0).at);
  for (const bool kind : {true, false}) {
    SampleCounts& found = counts[blockIdx.y];
    const bool is_mine = is_there && interior == kind;
    const unsigned mine = __ballot_sync(~0U, is_mine);
    std::uint32_t before = 0;
    if (threadIdx.x % 32 == 0)
      before = atomicAdd(kind ? &found.interior : &found.others, __popc(mine));
    before = __shfl_sync(~0U, before, 0) + static_cast<unsigned>(__popc(mine & below));
    if (is_mine) list[kind ? sample.samples - 1 - before : before] = k;
  }
}

/// The approximately restored neighbour of a sample at a tap that is in the array.
template <class T>
__device__ T value_at_tap(const ApproximateReconstruction<T>& approximation,
                          const ClassPlan<T>& plan, const SamplePoint<T>& point, unsigned tap) {
  Index4 at = point.at;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    at[axis] += static_cast<std::uint64_t>(plan.stencil.taps[tap][axis]) * plan.points.unit[axis];
  }
  return approximation.value_at(at, point.offset + plan.stencil_offsets[tap]);
}

/// The sums of the groups of samples' neighbours as approximation restores them, in the samples'
/// rows, 32 samples a thread block, of classes some of whose neighbours are not made yet, which
/// come last. To make a value takes as long as a prediction, so warps share out the neighbours.
template <class T>
__global__ void __launch_bounds__(approximating_threads, 2)
    approximate_groups(const ClassSample<T>* samples, const std::uint32_t* lists,
                       __grid_constant__ const ApproximateReconstruction<T> approximation) {
  constexpr unsigned warps = approximating_threads / sum_lanes;
  __shared__ T values[Stencil::most_taps][sum_lanes];
  const ClassSample<T>& sample = samples[gridDim.y - 1 - blockIdx.y];
  if (blockIdx.x * sum_lanes >= sample.samples || !has_unmade_neighbours(sample, approximation))
    return;
  const unsigned lane = threadIdx.x % sum_lanes;
  const unsigned warp = threadIdx.x / sum_lanes;
  const auto number = static_cast<std::uint32_t>(blockIdx.x * sum_lanes + lane);
  const bool is_there = number < sample.samples;
  const std::uint32_t* const list = lists + (sample.curvature_keys - samples[0].curvature_keys);
  const std::uint32_t k = list[is_there ? number : 0];
  const SamplePoint<T> point(sample, k);
  const ClassPlan<T>& plan = *sample.plan;
  const PointAt<ApproximateValues<T>> among{*sample.grid, plan.points, point.at,
                                            ApproximateValues<T>(approximation, point.offset)};
  const bool is_observed = is_there && !is_at_edge(among);
  if (is_observed) {
    const bool has_all = is_inner(point.at, plan.stencil_margins, sample.grid->extents);
    for (unsigned tap = warp; tap < plan.stencil.all_taps(); tap += warps) {
      values[tap][lane] = has_all ? value_at_tap(approximation, plan, point, tap)
                                  : tap_value(among, plan.stencil.taps[tap]);
    }
  }
  __syncthreads();
  if (!is_observed) return;
  double* const row = sample.row(k);
  for (unsigned g = warp; g < plan.stencil.size; g += warps) {
    row[g * sum_lanes] = static_cast<double>(
        tap_sum(plan.stencil, g, [&](unsigned tap) { return values[tap][lane]; }));
  }
}

/// Observes samples among restored neighbours, one a thread: those that are made, or the sums of
/// groups that stand in the samples' rows.
template <class T>
__global__ void __launch_bounds__(sample_threads)
    observe_approximate_kernel(const ClassSample<T>* samples,
                               __grid_constant__ const ApproximateReconstruction<T> approximation) {
  const ClassSample<T>& sample = samples[blockIdx.y];
  const std::uint32_t k = blockIdx.x * sample_threads + threadIdx.x;
  if (blockIdx.x * sample_threads >= sample.blocks() * sum_lanes) return;
  const bool has_sums = has_unmade_neighbours(sample, approximation);
  if (k >= sample.blocks() * sum_lanes) return;
  if (!has_sums) {
    observe_among(sample, k, approximation.originals, approximation.made);
    return;
  }
  const double* const row = sample.row(k);
  observe_sample(sample, k, approximation.originals, [&](const SamplePoint<T>& /*point*/) {
    return [row](unsigned g) { return static_cast<T>(row[g * sum_lanes]); };
  });
}

}  // namespace

template <class T>
void ClassSamples<T>::take() {
  const auto blocks_of = [](const ClassSample<T>& s) { return ceil_div(s.samples, sum_lanes); };
  std::uint64_t values = 0;
  for (const ClassSample<T>& sample : samples_) {
    values += blocks_of(sample) * (sample.unknowns + sample.own_rows) * sum_lanes;
    keys_ += blocks_of(sample) * sum_lanes;
    most_samples_ = std::max(most_samples_, sample.samples);
  }
  plans_on_device_ = gpu_.take<ClassPlan<T>>(samples_.size());
  start_copy(gpu_, plans_on_device_, plans_, samples_.size());
  const Grid* const grids = upload(gpu_, grids_.data(), grids_.size());
  auto* value = gpu_.take<double>(values);
  auto* key = gpu_.take<std::uint8_t>(keys_);
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    ClassSample<T>& sample = samples_[i];
    sample.plan = plans_on_device_ + i;
    sample.grid = grids + grid_of_[i];
    sample.values = value;
    sample.curvature_keys = key;
    value += blocks_of(sample) * (sample.unknowns + sample.own_rows) * sum_lanes;
    key += blocks_of(sample) * sum_lanes;
  }
  on_device_ = upload(gpu_, samples_.data(), samples_.size());
}

template <class T>
void ClassSamples<T>::observe(const T* values) {
  if (most_samples_ == 0) return;
  const dim3 grid(blocks_for(most_samples_ + sum_lanes, sample_threads),
                  static_cast<unsigned>(samples_.size()));
  observe_kernel<<<grid, sample_threads, 0, gpu_.stream()>>>(on_device_, values);
  check_launch("observe");
}

template <class T>
void ClassSamples<T>::observe(const ApproximateReconstruction<T>& approximate) {
  if (most_samples_ == 0) return;
  const auto classes = static_cast<unsigned>(samples_.size());
  auto* const lists = gpu_.take<std::uint32_t>(keys_);
  auto* const counts = gpu_.take_zeroed<SampleCounts>(classes);
  const dim3 by_sample(blocks_for(most_samples_ + sum_lanes, sample_threads), classes);
  list_samples<<<by_sample, sample_threads, 0, gpu_.stream()>>>(on_device_, approximate, counts,
                                                                lists);
  check_launch("list_samples");
  const dim3 by_group(blocks_for(most_samples_, sum_lanes), classes);
  approximate_groups<<<by_group, approximating_threads, 0, gpu_.stream()>>>(on_device_, lists,
                                                                            approximate);
  check_launch("approximate_groups");
  observe_approximate_kernel<<<by_sample, sample_threads, 0, gpu_.stream()>>>(on_device_,
                                                                              approximate);
  check_launch("observe_approximate");
}

template class ClassSamples<float>;
template class ClassSamples<double>;

}  // namespace cuszi::gpu

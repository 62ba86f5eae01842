#include "core/place.hpp"
#include "gpu/class_samples.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned threads = 128;
constexpr unsigned simulating_threads = 256;

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
  sample.bend_keys[k] = bend_key(seen.bend, sample.bound);
}

/// Fills the last block of 32 samples.
template <class T>
__device__ void keep_none(const ClassSample<T>& sample, std::uint32_t k) {
  for (std::uint32_t i = 0; i < sample.unknowns; ++i) sample.row(k)[i * sum_lanes] = 0;
  keep(sample, k, {});
}

/// Observes samples among originals, one a thread.
template <class T>
__global__ void __launch_bounds__(threads)
    observe_kernel(const ClassSample<T>* samples, const T* originals) {
  const ClassSample<T>& sample = samples[blockIdx.y];
  const std::uint32_t k = blockIdx.x * threads + threadIdx.x;
  if (k >= sample.blocks() * sum_lanes) return;
  if (k >= sample.samples) {
    keep_none(sample, k);
    return;
  }
  const SamplePoint<T> point(sample, k);
  const T* const values = originals + point.offset;
  keep(sample, k,
       observe_point(*sample.plan, *sample.grid, point.at, *values,
                     GroupSums(*sample.plan, *sample.grid, point.at, values), sample.row(k),
                     sum_lanes));
}

/// The sum of a group of a sample's neighbours, each as simulation restores it.
template <class T>
__device__ T simulated_sum(const ClassSample<T>& sample, const Simulation<T>& simulation,
                           const SamplePoint<T>& point, unsigned group) {
  const ClassPlan<T>& plan = *sample.plan;
  if (plan.points.level >= simulation.made_from) {
    const T* const values = simulation.made + point.offset;
    return GroupSums(plan, *sample.grid, point.at, values)(group);
  }
  const SimulatedValues<T> values(simulation, point.offset);
  return GroupSums(plan, *sample.grid, point.at, values)(group);
}

/// Observes samples among simulated values, 32 a thread block: to make a value takes as long as a
/// prediction, so warps share out the groups of neighbours.
template <class T>
__global__ void __launch_bounds__(simulating_threads)
    observe_simulated_kernel(const ClassSample<T>* samples,
                             __grid_constant__ const Simulation<T> simulation) {
  __shared__ T sums[Stencil::most_groups][sum_lanes];
  const ClassSample<T>& sample = samples[blockIdx.y];
  if (blockIdx.x >= sample.blocks()) return;
  const unsigned lane = threadIdx.x % sum_lanes;
  const unsigned warp = threadIdx.x / sum_lanes;
  const std::uint32_t k = blockIdx.x * sum_lanes + lane;
  const bool exists = k < sample.samples;
  const SamplePoint<T> point(sample, exists ? k : 0);
  const ClassPlan<T>& plan = *sample.plan;
  if (!is_at_edge(PointAt<const T*>{*sample.grid, plan.points, point.at, nullptr})) {
    for (unsigned g = warp; g < plan.stencil.size; g += simulating_threads / sum_lanes) {
      sums[g][lane] = simulated_sum(sample, simulation, point, g);
    }
  }
  __syncthreads();
  if (warp != 0) return;
  if (!exists) {
    keep_none(sample, k);
    return;
  }
  const auto sum_of = [&](unsigned g) { return sums[g][lane]; };
  keep(sample, k,
       observe_point(plan, *sample.grid, point.at, simulation.originals[point.offset], sum_of,
                     sample.row(k), sum_lanes));
}

}  // namespace

template <class T>
void ClassSamples<T>::take() {
  const auto blocks_of = [](const ClassSample<T>& s) { return ceil_div(s.samples, sum_lanes); };
  std::uint64_t values = 0;
  std::uint64_t keys = 0;
  for (const ClassSample<T>& sample : samples_) {
    values += blocks_of(sample) * (sample.unknowns + sample.own_rows) * sum_lanes;
    keys += blocks_of(sample) * sum_lanes;
    most_samples_ = std::max(most_samples_, sample.samples);
  }
  plans_on_device_ = work_.take<ClassPlan<T>>(samples_.size());
  work_.copy(plans_on_device_, plans_, samples_.size());
  const Grid* const grids = work_.upload(grids_.data(), grids_.size());
  auto* value = work_.take<double>(values);
  auto* key = work_.take<std::uint8_t>(keys);
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    ClassSample<T>& sample = samples_[i];
    sample.plan = plans_on_device_ + i;
    sample.grid = grids + grid_of_[i];
    sample.values = value;
    sample.bend_keys = key;
    value += blocks_of(sample) * (sample.unknowns + sample.own_rows) * sum_lanes;
    key += blocks_of(sample) * sum_lanes;
  }
  on_device_ = work_.upload(samples_.data(), samples_.size());
}

template <class T>
void ClassSamples<T>::observe(const T* values) {
  if (most_samples_ == 0) return;
  const dim3 grid(blocks_for(most_samples_ + sum_lanes, threads),
                  static_cast<unsigned>(samples_.size()));
  observe_kernel<<<grid, threads, 0, work_.stream()>>>(on_device_, values);
  check_launch("observe");
}

template <class T>
void ClassSamples<T>::observe(const Simulation<T>& simulated) {
  if (most_samples_ == 0) return;
  const dim3 grid(blocks_for(most_samples_, sum_lanes), static_cast<unsigned>(samples_.size()));
  observe_simulated_kernel<<<grid, simulating_threads, 0, work_.stream()>>>(on_device_, simulated);
  check_launch("observe_simulated");
}

template class ClassSamples<float>;
template class ClassSamples<double>;

}  // namespace cuszi::gpu

#include "core/place.hpp"
#include "gpu/class_samples.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned threads = 128;

/// Where the neighbours of samples are read: among originals, or among what would be restored.
template <class T>
struct Originals {
  const T* values;

  __device__ Observation observe(const ClassSample<T>& sample, const Index4& at,
                                 std::uint64_t point, double* row) const {
    return observe_point(*sample.plan, *sample.grid, at, values[point], values + point, row,
                         sum_lanes);
  }
};

template <class T>
struct Simulated {
  Simulation<T> simulation;

  __device__ Observation observe(const ClassSample<T>& sample, const Index4& at,
                                 std::uint64_t point, double* row) const {
    const ClassPlan<T>& plan = *sample.plan;
    const T value = simulation.originals[point];
    if (plan.points.level >= simulation.made_from) {
      return observe_point(plan, *sample.grid, at, value, simulation.made + point, row, sum_lanes);
    }
    return observe_point(plan, *sample.grid, at, value, SimulatedValues<T>(simulation, point), row,
                         sum_lanes);
  }
};

/// Observes samples, one a thread.
template <class T, class Neighbours>
__global__ void __launch_bounds__(threads)
    observe_kernel(const ClassSample<T>* samples, __grid_constant__ const Neighbours neighbours) {
  const ClassSample<T>& sample = samples[blockIdx.y];
  const std::uint32_t k = blockIdx.x * threads + threadIdx.x;
  if (k >= sample.blocks() * sum_lanes) return;
  double* const row = sample.row(k);
  Observation seen;
  if (k < sample.samples) {
    const PointClass& points = sample.plan->points;
    const std::uint64_t number = sampled_point(k, sample.samples, points.points());
    const Index4 at = position_of(points, raster_point(points, number));
    seen = neighbours.observe(sample, at, offset_of(*sample.grid, at), row);
  } else {  // fills the last block of 32
    for (std::uint32_t i = 0; i < sample.unknowns; ++i) row[i * sum_lanes] = 0;
  }
  row[sample.unknowns * sum_lanes] = seen.target;
  row[(sample.unknowns + 1) * sum_lanes] = seen.is_used ? 1 : 0;
  sample.bend_keys[k] = bend_key(seen.bend, sample.bound);
}

}  // namespace

template <class T>
void ClassSamples<T>::take() {
  const auto blocks_of = [](const ClassSample<T>& s) { return ceil_div(s.samples, sum_lanes); };
  std::uint64_t values = 0;
  std::uint64_t keys = 0;
  for (const ClassSample<T>& sample : samples_) {
    values += blocks_of(sample) * (sample.unknowns + 2) * sum_lanes;
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
    value += blocks_of(sample) * (sample.unknowns + 2) * sum_lanes;
    key += blocks_of(sample) * sum_lanes;
  }
  on_device_ = work_.upload(samples_.data(), samples_.size());
}

template <class T>
template <class Neighbours>
void ClassSamples<T>::observe_by(const Neighbours& neighbours) {
  if (most_samples_ == 0) return;
  const dim3 grid(blocks_for(most_samples_ + sum_lanes, threads),
                  static_cast<unsigned>(samples_.size()));
  observe_kernel<<<grid, threads, 0, work_.stream()>>>(on_device_, neighbours);
  check_launch("observe");
}

template <class T>
void ClassSamples<T>::observe(const T* values) {
  observe_by(Originals<T>{values});
}

template <class T>
void ClassSamples<T>::observe(const Simulation<T>& simulated) {
  observe_by(Simulated<T>{simulated});
}

template class ClassSamples<float>;
template class ClassSamples<double>;

}  // namespace cuszi::gpu

#include "core/multilevel/code_position.hpp"
#include "core/tuning/fit_sample.hpp"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/tuning/class_samples.cuh"
#include "gpu/tuning/tuning.cuh"

namespace cuszi::gpu {

namespace {

template <class T>
__device__ void keep(const ClassSample<T>& sample, std::uint32_t k, const Observation& seen) {
  double* const row = sample.row(k);
  row[sample.unknowns * sum_lanes] = seen.target;
  row[(sample.unknowns + 1) * sum_lanes] = seen.is_used ? 1 : 0;
  sample.curvature_keys[k] = curvature_key(seen.curvature, sample.bound);
}

/// Pads the last block of 32 samples.
template <class T>
__device__ void keep_none(const ClassSample<T>& sample, std::uint32_t k) {
  for (std::uint32_t i = 0; i < sample.unknowns; ++i) sample.row(k)[i * sum_lanes] = 0;
  keep(sample, k, {});
}

/// One thread per sample.
template <class T>
__global__ void __launch_bounds__(StencilFitPolicy::observe_threads)
    observe_samples(const ClassSample<T>* samples, const T* values) {
  const ClassSample<T>& sample = samples[blockIdx.y];
  const std::uint32_t k = blockIdx.x * StencilFitPolicy::observe_threads + threadIdx.x;
  if (k >= sample.blocks() * sum_lanes) return;
  if (k >= sample.samples) {
    keep_none(sample, k);
    return;
  }
  const PointClass& points = sample.plan->points;
  const std::uint64_t number = sampled_point(k, sample.samples, points.points());
  const Index4 at = position_of(points, raster_point(points, number));
  keep(sample, k,
       observe(*sample.plan, sample.grid, at, values + offset_of(sample.grid, at), sample.row(k),
               sum_lanes));
}

}  // namespace

template <class T>
std::vector<Schedule> ClassSamples<T>::take_plans(std::span<const MultilevelParams> params) {
  std::vector<Schedule> schedules;
  schedules.reserve(params.size());
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Lattice& lattice = params[i].lattice;
    const bool is_known = i != 0 && lattice == params[i - 1].lattice;
    schedules.push_back(is_known ? schedules.back() : make_schedule(lattice));
    firsts_.push_back(firsts_.back() + schedules.back().classes.size());
  }
  plans_ = gpu_.take_pinned<ClassPlan<T>>(firsts_.back());
  return schedules;
}

template <class T>
void ClassSamples<T>::take_samples() {
  const auto blocks_of = [](const ClassSample<T>& s) { return ceil_div(s.samples, sum_lanes); };
  std::uint64_t values = 0;
  std::uint64_t keys = 0;
  for (const ClassSample<T>& sample : samples_) {
    values += blocks_of(sample) * (sample.unknowns + sample.own_rows) * sum_lanes;
    keys += blocks_of(sample) * sum_lanes;
    most_samples_ = std::max(most_samples_, sample.samples);
  }
  auto* const plans = gpu_.take<ClassPlan<T>>(samples_.size());
  start_copy(gpu_, plans, plans_, samples_.size());
  auto* value = gpu_.take<double>(values);
  auto* key = gpu_.take<std::uint8_t>(keys);
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    ClassSample<T>& sample = samples_[i];
    sample.plan = plans + i;
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
  const dim3 grid(blocks_for(most_samples_ + sum_lanes, StencilFitPolicy::observe_threads),
                  static_cast<unsigned>(samples_.size()));
  observe_samples<<<grid, StencilFitPolicy::observe_threads, 0, gpu_.stream()>>>(on_device_,
                                                                                 values);
  check_launch("observe_samples");
}

template class ClassSamples<float>;
template class ClassSamples<double>;

}  // namespace cuszi::gpu

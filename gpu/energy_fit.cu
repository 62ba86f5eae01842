#include "core/place.hpp"
#include "gpu/energy_fit.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned threads = 128;

/// What is sampled of a class.
template <class T>
struct ClassSample {
  const ClassView<T>* view = nullptr;  ///< on the device
  LevelArray<T> array;
  std::uint64_t first = 0;  ///< of its samples among all
  std::uint64_t wanted = 0;
  std::uint64_t all = 0;  ///< points of the class
  std::size_t group = 0;  ///< among those of all passes
};

struct SampledPoint {
  EnergyFeatures features;
  std::uint8_t magnitude;
  bool is_missing;
};

template <class T>
__global__ void sample_kernel(const ClassSample<T>* samples, std::uint32_t classes,
                              std::uint64_t count, RankedBits missing, SampledPoint* out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= count) return;
  std::uint32_t c = 0;
  while (c + 1 < classes && samples[c + 1].first <= i) ++c;
  const ClassSample<T>& sample = samples[c];
  const PointClass& points = sample.view->plan.points;
  const std::uint64_t k = sampled_point(i - sample.first, sample.wanted, sample.all);
  const Index4 at = cuszi::position_of(points, raster_point(points, k));
  const LevelLayout& layout = sample.array.layout;
  const LevelPointer<T> values(sample.array.values, layout, at);
  const LevelPointer<std::uint8_t> magnitudes(sample.array.magnitudes, layout, at);
  const PointAt<LevelPointer<T>> p{sample.view->grid, points, at, values};
  out[i] = {features_of(sample.view->plan, p, magnitudes), *magnitudes,
            missing.words != nullptr && missing.test(layout.original_offset_of(at))};
}

/// The classes of passes, and their samples one after the other.
template <class T>
std::vector<ClassSample<T>> samples_of(const LevelFrame<T>& frame, PassRange passes,
                                       FitSample size) {
  std::vector<ClassSample<T>> samples;
  std::size_t groups = 0;
  std::uint64_t first = 0;
  for (int number = passes.first; number < passes.end; ++number) {
    const Pass& pass = frame.pass(number);
    const auto classes = frame.plan().classes_of(pass);
    std::vector<std::uint64_t> of_group(pass.groups, 0);
    for (const ClassPlan<T>& c : classes) of_group[c.points.group] += c.points.points();
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const PointClass& points = classes[c].points;
      const std::uint64_t all = points.points();
      const std::uint64_t wanted = energy_sample(all, of_group[points.group], size);
      const PassView<T>& view = frame.view(number);
      samples.push_back({view.classes + c, view.array, first, wanted, all, groups + points.group});
      first += wanted;
    }
    groups += pass.groups;
  }
  return samples;
}

}  // namespace

template <class T>
std::vector<std::vector<EnergySample>> sample_energies(Work& work, const LevelFrame<T>& frame,
                                                       PassRange passes, const RankedBits& missing,
                                                       FitSample size) {
  const std::vector<ClassSample<T>> samples = samples_of(frame, passes, size);
  const std::uint64_t count = samples.back().first + samples.back().wanted;
  const ClassSample<T>* const on_device = work.upload(samples.data(), samples.size());
  auto* const sampled = work.take<SampledPoint>(count);
  sample_kernel<T><<<blocks_for(count, threads), threads, 0, work.stream()>>>(
      on_device, static_cast<std::uint32_t>(samples.size()), count, missing, sampled);
  check_launch("sample_energies");
  const SampledPoint* const points = work.download(sampled, count);
  work.sync();

  std::vector<EnergySample> groups(samples.back().group + 1);
  for (const ClassSample<T>& sample : samples) {
    EnergySample& group = groups[sample.group];
    group.points += sample.all;
    for (std::uint64_t i = sample.first; i < sample.first + sample.wanted; ++i) {
      if (points[i].is_missing) continue;
      group.features.push_back(points[i].features);
      group.magnitudes.push_back(points[i].magnitude);
    }
  }
  std::vector<std::vector<EnergySample>> result;
  auto next = groups.begin();
  for (int number = passes.first; number < passes.end; ++number) {
    const auto end = next + frame.pass(number).groups;
    result.emplace_back(std::make_move_iterator(next), std::make_move_iterator(end));
    next = end;
  }
  return result;
}

template std::vector<std::vector<EnergySample>> sample_energies(Work&, const LevelFrame<float>&,
                                                                PassRange, const RankedBits&,
                                                                FitSample);
template std::vector<std::vector<EnergySample>> sample_energies(Work&, const LevelFrame<double>&,
                                                                PassRange, const RankedBits&,
                                                                FitSample);

}  // namespace cuszi::gpu

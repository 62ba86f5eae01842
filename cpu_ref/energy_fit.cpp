#include "cpu_ref/energy_fit.hpp"

#include "cpu_ref/energy_points.hpp"
#include "cpu_ref/raster.hpp"

namespace cuszi::cpu {

namespace {

template <class T>
EnergySample sample_group(const FramePlan<T>& plan, const Pass& pass, std::uint32_t group,
                          const Known<T>& known, const Mask& mask, FitSample size) {
  EnergySample sample;
  for (const ClassPlan<T>& c : plan.classes_of(pass)) {
    if (c.points.group == group) sample.points += c.points.points();
  }
  std::uint64_t samples = 0;
  for (const ClassPlan<T>& c : plan.classes_of(pass)) {
    if (c.points.group == group) samples += energy_sample(c.points.points(), sample.points, size);
  }
  sample.features.reserve(samples);
  sample.magnitudes.reserve(samples);
  for (const ClassPlan<T>& c : plan.classes_of(pass)) {
    if (c.points.group != group) continue;
    const PointEnergy<T> energy(plan.grid, c);
    const Raster raster(c.points.count);
    const std::uint64_t all = c.points.points();
    const std::uint64_t wanted = energy_sample(all, sample.points, size);
    for (std::uint64_t k = 0; k < wanted; ++k) {
      const Index4 at = position_of(c.points, raster(sampled_point(k, wanted, all)));
      const std::uint64_t offset = offset_of(plan.grid, at);
      if (mask.any() && mask(offset)) continue;
      sample.features.push_back(energy.features(known, at, offset));
      sample.magnitudes.push_back(known.magnitudes[offset]);
    }
  }
  return sample;
}

}  // namespace

template <class T>
std::vector<GroupWeights> fit_weights(const FramePlan<T>& plan, const Pass& pass,
                                      const Known<T>& known, const Mask& mask, FitSample size,
                                      RememberedWeights& remembered) {
  return choose_weights(plan, pass, remembered, [&](std::uint32_t group) {
    return sample_group(plan, pass, group, known, mask, size);
  });
}

template std::vector<GroupWeights> fit_weights(const FramePlan<float>&, const Pass&,
                                               const Known<float>&, const Mask&, FitSample,
                                               RememberedWeights&);
template std::vector<GroupWeights> fit_weights(const FramePlan<double>&, const Pass&,
                                               const Known<double>&, const Mask&, FitSample,
                                               RememberedWeights&);

}  // namespace cuszi::cpu

#include "cpu_ref/multilevel/energy_fit.hpp"

#include "core/tuning/fit_sample.hpp"
#include "cpu_ref/base/raster.hpp"
#include "cpu_ref/multilevel/energy_points.hpp"

namespace cuszi::cpu {

namespace {

/// Adds the points of a class, of whose group the sample is.
template <class T>
void add_class(const Grid& grid, const ClassPlan<T>& c, const Known<T>& known, const Mask& mask,
               std::uint64_t wanted, EnergySample& sample) {
  using Points = PointEnergy<T>;
  const Points energy(grid, c);
  const Raster raster(c.points.count);
  const std::uint64_t all = c.points.points();
  std::array<typename Points::Place, Points::most_points> places;
  std::size_t count = 0;
  for (std::uint64_t k = 0; k < wanted; ++k) {
    const Index4 at = position_of(c.points, raster(sampled_point(k, wanted, all)));
    const std::uint64_t point = offset_of(grid, at);
    if (!mask.any() || !mask(point)) places[count++] = {at, point};
    if (count != places.size() && k + 1 != wanted) continue;
    const std::size_t first = sample.features.size();
    sample.features.resize(first + count);
    energy.features(known, std::span(places).first(count), sample.features.data() + first);
    for (std::size_t i = 0; i < count; ++i) {
      sample.magnitudes.push_back(known.magnitudes[places[i].point]);
    }
    count = 0;
  }
}

template <class T>
EnergySample sample_group(const FramePlan<T>& plan, const Pass& pass, std::uint32_t group,
                          const Known<T>& known, const Mask& mask) {
  EnergySample sample;
  for (const ClassPlan<T>& c : plan.classes_of(pass)) {
    if (c.points.group == group) sample.points += c.points.points();
  }
  const auto wanted = [&](const ClassPlan<T>& c) {
    return energy_sample(c.points.points(), sample.points);
  };
  std::uint64_t samples = 0;
  for (const ClassPlan<T>& c : plan.classes_of(pass)) {
    if (c.points.group == group) samples += wanted(c);
  }
  sample.features.reserve(samples);
  sample.magnitudes.reserve(samples);
  for (const ClassPlan<T>& c : plan.classes_of(pass)) {
    if (c.points.group == group) add_class(plan.grid, c, known, mask, wanted(c), sample);
  }
  return sample;
}

}  // namespace

template <class T>
std::vector<ContextWeights> fit_weights(const FramePlan<T>& plan, const Pass& pass,
                                        const Known<T>& known, const Mask& mask,
                                        RememberedWeights& remembered) {
  return choose_weights(plan, pass, remembered, [&](std::uint32_t group) {
    return sample_group(plan, pass, group, known, mask);
  });
}

template std::vector<ContextWeights> fit_weights(const FramePlan<float>&, const Pass&,
                                                 const Known<float>&, const Mask&,
                                                 RememberedWeights&);
template std::vector<ContextWeights> fit_weights(const FramePlan<double>&, const Pass&,
                                                 const Known<double>&, const Mask&,
                                                 RememberedWeights&);

}  // namespace cuszi::cpu

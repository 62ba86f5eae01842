#include <limits>

#include "core/class_plan.hpp"
#include "core/place.hpp"
#include "core/stencil_fit.hpp"
#include "cpu_ref/multilevel.hpp"
#include "cpu_ref/parallel.hpp"

namespace cuszi::cpu {

namespace {

template <class T>
Observations observe_class(const Grid& grid, const PointClass& points, const Stencil& stencil,
                           const T* values, FitSample size) {
  const std::uint64_t all = points.points();
  const std::uint64_t wanted = stencil_sample(all, size);
  Observations sample(stencil.size - 1U, wanted);
  for (std::uint64_t k = 0; k < wanted; ++k) {
    const Index4 at = position_of(points, raster_point(points, sampled_point(k, wanted, all)));
    const PointAt<const T*> p{grid, points, at, values + offset_of(grid, at)};
    const std::size_t block = k / sum_lanes;
    const std::size_t lane = k % sum_lanes;
    const bool is_used =
        observe(stencil, p, sample.row(block, 0) + lane, sum_lanes, sample.targets(block)[lane]);
    sample.taking_part(block)[lane] = is_used ? 1 : 0;
  }
  return sample;
}

}  // namespace

template <class T>
std::vector<T> without_missing(const FrameInput<T>& frame) {
  if (!frame.mask.any()) return {};
  std::vector<T> values(frame.values.begin(), frame.values.end());
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    if (frame.mask(i)) values[i] = std::numeric_limits<T>::quiet_NaN();
  }
  return values;
}

template <class T>
void fit_coefficients(MultilevelParams& params, const FrameInput<T>& frame, FitSample size) {
  const std::vector<T> cleaned = without_missing(frame);
  const T* const values = cleaned.empty() ? frame.values.data() : cleaned.data();
  const Schedule schedule = make_schedule(params.lattice);
  params.coefficients.clear();
  std::vector<Coefficients> fitted(schedule.classes.size());
  parallel_for(fitted.size(), [&](std::uint64_t i) {
    const PointClass& points = schedule.classes[i];
    const Stencil stencil = stencil_of(params.lattice, params.reach, points);
    if (stencil.size < 2 || points.points() < fewest_fit_points) return;
    fitted[i] = fit_stencil(observe_class(schedule.grid, points, stencil, values, size), stencil,
                            points, params.half_step_of(points.level));
  });
  params.coefficients = std::move(fitted);
}

template std::vector<float> without_missing(const FrameInput<float>&);
template std::vector<double> without_missing(const FrameInput<double>&);
template void fit_coefficients(MultilevelParams&, const FrameInput<float>&, FitSample);
template void fit_coefficients(MultilevelParams&, const FrameInput<double>&, FitSample);

}  // namespace cuszi::cpu

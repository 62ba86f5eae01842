#include <limits>

#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/multilevel/multilevel.hpp"
#include "cpu_ref/tuning/class_samples.hpp"

namespace cuszi::cpu {

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
void fit_coefficients(MultilevelParams& params, const FrameInput<T>& frame) {
  const std::vector<T> cleaned = without_missing(frame);
  const T* const values = cleaned.empty() ? frame.values.data() : cleaned.data();
  const Schedule schedule = make_schedule(params.lattice);
  std::vector<Coefficients> fitted(schedule.classes.size());
  parallel_for(fitted.size(), [&](std::uint64_t i) {
    const PointClass& points = schedule.classes[i];
    const Stencil stencil = stencil_of(params.lattice, params.reach, points);
    if (stencil.size < 2 || points.points() < fewest_fit_points) return;
    const double bound = fit_bound(params, points.level);
    const std::uint64_t wanted = stencil_sample(points.points());
    StencilObserver<T> view(points, stencil, stencil, wanted);
    sample_class(schedule.grid, points, stencil, wanted, bound, values, std::span(&view, 1));
    fitted[i] = fit_stencil(view.finish(), stencil, points, bound, fewest_fit_points);
  });
  params.coefficients = std::move(fitted);
}

template std::vector<float> without_missing(const FrameInput<float>&);
template std::vector<double> without_missing(const FrameInput<double>&);
template void fit_coefficients(MultilevelParams&, const FrameInput<float>&);
template void fit_coefficients(MultilevelParams&, const FrameInput<double>&);

}  // namespace cuszi::cpu

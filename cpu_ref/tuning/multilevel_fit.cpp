#include <limits>
#include <memory>

#include "core/multilevel/class_plan.hpp"
#include "core/tuning/approximate_reconstruction.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/multilevel/multilevel.hpp"
#include "cpu_ref/multilevel/row_predictor.hpp"
#include "cpu_ref/tuning/class_samples.hpp"

namespace cuszi::cpu {

namespace {

/// The fits of all classes of a frame.
template <class T>
class FrameFit {
 public:
  FrameFit(const MultilevelParams& params, const T* values)
      : params_(params), schedule_(make_schedule(params.lattice)), values_(values) {}

  const Schedule& schedule() const { return schedule_; }

  /// The coefficients of all classes; `sample_of(points, stencil)` observes a class.
  template <class SampleOf>
  std::vector<Coefficients> fit(FitTo to, const SampleOf& sample_of) const {
    std::vector<Coefficients> fitted(schedule_.classes.size());
    parallel_for(fitted.size(), [&](std::uint64_t i) {
      const PointClass& points = schedule_.classes[i];
      const Stencil stencil = stencil_of(params_.lattice, params_.reach, points);
      if (stencil.size < 2 || points.points() < fewest_fit_points) return;
      const Coefficients start =
          params_.coefficients.empty() ? Coefficients{} : params_.coefficients[i];
      fitted[i] = fit_stencil(sample_of(points, stencil), stencil, points,
                              params_.half_step_of(points.level), to, start);
    });
    return fitted;
  }

  /// Sampled points of a class; `reader(point)` reads the neighbours of one.
  template <class Reader>
  Observations observe_class(const PointClass& points, const Stencil& stencil, FitSample size,
                             const Reader& reader) const {
    const std::uint64_t wanted = stencil_sample(points.points(), size);
    StencilObserver<T> view(points, stencil, stencil, wanted);
    sample_class(schedule_.grid, points, stencil, wanted, params_.half_step_of(points.level),
                 values_, reader, std::span(&view, 1));
    return view.finish();
  }

 private:
  const MultilevelParams& params_;
  Schedule schedule_;
  const T* values_;
};

/// What the coefficients in `params` would restore, as far as it has been made. Coarse levels are
/// approximate as a whole, which their own classes read then; of level 1 samples need few points,
/// which are made where they are read, unless the frame is small.
template <class T>
class FrameReconstruction {
 public:
  FrameReconstruction(const MultilevelParams& params, const Schedule& schedule,
                      const FrameInput<T>& frame, const T* values)
      : plan_(plan_frame<T>(params, frame.min, frame.max)),
        classes_(classes_by_slot(ClassFinder(params.lattice), schedule)),
        quantizers_(level_quantizers<T>(params, frame.min, frame.max)),
        made_(std::make_unique_for_overwrite<T[]>(frame.values.size())),
        approximation_{plan_.grid,         ClassFinder(params.lattice),
                       classes_.data(),    plan_.classes.data(),
                       quantizers_.data(), values,
                       made_.get(),        frame.values.size() <= small_frame ? 1 : 2},
        raster_(plan_.grid.extents) {
    const std::span<const Pass> passes(plan_.passes);
    for (const Pass& pass :
         approximation_.made_from == 1 ? passes : passes.first(plan_.coarse_passes))
      make(pass);
  }

  /// Sampled points of a class with approximate neighbours.
  Observations observe_class(const FrameFit<T>& fits, const PointClass& points,
                             const Stencil& stencil, FitSample size) const {
    if (points.level >= approximation_.made_from) {
      return fits.observe_class(points, stencil, size, [&](std::uint64_t point) -> const T* {
        return made_.get() + point;
      });
    }
    return fits.observe_class(points, stencil, size,
                              [&](std::uint64_t point) { return Values(*this, point); });
  }

  T value(std::uint64_t point) const { return approximation_.value_at(raster_(point), point); }

 private:
  /// Reads approximate values as a pointer reads an array.
  class Values {
   public:
    Values(const FrameReconstruction& approximation, std::uint64_t point)
        : approximation_(&approximation), point_(static_cast<std::ptrdiff_t>(point)) {}

    T operator[](std::ptrdiff_t offset) const {
      return approximation_->value(static_cast<std::uint64_t>(point_ + offset));
    }
    T operator*() const { return (*this)[0]; }

    Values& operator+=(std::ptrdiff_t offset) {
      point_ += offset;
      return *this;
    }
    Values& operator-=(std::ptrdiff_t offset) { return *this += -offset; }

   private:
    const FrameReconstruction* approximation_;
    std::ptrdiff_t point_;
  };

  static constexpr std::size_t small_frame = std::size_t{1} << 22;

  void make(const Pass& pass) {
    for_each_predicted_row<T>(
        plan_, pass, approximation_.originals, [] { return 0; },
        [&](int, const ClassPlan<T>& c, const Row& row, const T* prediction) {
          for (std::size_t k = 0; k < row.count; ++k) {
            const std::uint64_t point = row.offset + k * c.points.step[3];
            made_[point] =
                approximation_.restored(c, approximation_.originals[point], prediction[k]);
          }
        },
        [](int) {});
  }

  FramePlan<T> plan_;
  std::vector<std::uint32_t> classes_;
  std::vector<Quantizer<T>> quantizers_;
  std::unique_ptr<T[]> made_;
  ApproximateReconstruction<T> approximation_;
  Raster raster_;
};

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
  params.coefficients.clear();
  const FrameFit<T> fits(params, values);
  params.coefficients =
      fits.fit(FitTo::originals, [&](const PointClass& points, const Stencil& stencil) {
        return fits.observe_class(points, stencil, FitSample::trial,
                                  [&](std::uint64_t point) -> const T* { return values + point; });
      });
  const FrameReconstruction<T> approximation(params, fits.schedule(), frame, values);
  params.coefficients =
      fits.fit(FitTo::approximate, [&](const PointClass& points, const Stencil& stencil) {
        return approximation.observe_class(fits, points, stencil, size);
      });
}

template std::vector<float> without_missing(const FrameInput<float>&);
template std::vector<double> without_missing(const FrameInput<double>&);
template void fit_coefficients(MultilevelParams&, const FrameInput<float>&, FitSample);
template void fit_coefficients(MultilevelParams&, const FrameInput<double>&, FitSample);

}  // namespace cuszi::cpu

#include <cmath>

#include "core/ans.hpp"
#include "core/least_squares.hpp"
#include "cpu_ref/lattice_rows.hpp"
#include "cpu_ref/multilevel.hpp"

namespace cuszi::cpu {

namespace {

constexpr std::uint64_t least_fit_points = 2048;  ///< all that a trial takes
constexpr std::uint64_t most_fit_points = 8192;
constexpr std::size_t fewest_points = 40;
constexpr int fit_rounds = 4;
constexpr double ridge = 1e-7;
constexpr double noise_share = 0.5;  ///< of the variance of a uniform quantisation error

/// A sample of a class: the means of its stencil's groups around each point less the first one's,
/// and the point's value less that.
struct ClassSample {
  std::size_t unknowns = 0;
  std::vector<double> rows;
  std::vector<double> targets;
  std::uint64_t points = 0;
};

template <class T>
class ClassFit {
 public:
  ClassFit(const MultilevelParams& params, const Grid& grid, const PointClass& points,
           FitSample size)
      : params_(params),
        grid_(grid),
        points_(points),
        most_points_(size == FitSample::full ? most_fit_points : least_fit_points),
        stencil_(stencil_of(params, points)) {
    bound_ = params.half_step_of(points.level);
  }

  /// Coefficients, or none if the preset is as good.
  Coefficients fit(const T* values, const Mask& mask) const {
    if (stencil_.size() < 2 || points_.points() < fewest_points) return {};
    const ClassSample sample = take_sample(values, mask);
    if (sample.targets.size() < fewest_points) return {};
    const std::vector<double> preset = preset_of();
    std::vector<double> x = preset;
    for (int round = 0; round < fit_rounds; ++round) {
      const auto solution = solve_round(sample, x);
      if (!solution) return {};
      x = *solution;
    }
    const Coefficients coefficients = to_integers(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<double>(coefficients[i]) / (1 << coefficient_bits);
    }
    constexpr Cost bits_per_coefficient = 11;
    const Cost side = (bits_per_coefficient * x.size()) << cost_bits;
    return cost_of(sample, x) + side < cost_of(sample, preset) ? coefficients : Coefficients{};
  }

 private:
  ClassSample take_sample(const T* values, const Mask& mask) const {
    ClassSample sample;
    sample.unknowns = stencil_.size() - 1;
    const std::uint64_t all = points_.points();
    sample.points = all;
    const std::uint64_t wanted = std::min(all, std::clamp(all / 4, least_fit_points, most_points_));
    std::vector<double> means(stencil_.size());
    for (std::uint64_t k = 0; k < wanted; ++k) {
      const PointAt<const T*> p = point_at_steps(values, wanted == all ? k : sample_point(k, all));
      if (is_at_edge(p) || !has_values(p, mask)) continue;
      for (std::size_t g = 0; g < stencil_.size(); ++g) {
        means[g] = static_cast<double>(group_sum(p, stencil_[g].data(), stencil_[g].size())) /
                   static_cast<double>(stencil_[g].size());
      }
      for (std::size_t g = 1; g < means.size(); ++g) sample.rows.push_back(means[g] - means[0]);
      sample.targets.push_back(static_cast<double>(*p.value) - means[0]);
    }
    return sample;
  }

  PointAt<const T*> point_at_steps(const T* values, std::uint64_t i) const {
    Index4 at{};
    std::uint64_t offset = 0;
    for (unsigned axis = max_axes; axis-- > 0;) {
      at[axis] = points_.first[axis] + i % points_.count[axis] * points_.step[axis];
      i /= points_.count[axis];
      offset += at[axis] * grid_.strides[axis];
    }
    return {grid_, points_, at, values + offset};
  }

  /// False if the point or a tap of it is missing.
  bool has_values(const PointAt<const T*>& p, const Mask& mask) const {
    if (!mask.any()) return true;
    auto sum = static_cast<double>(*p.value);
    for (const TapGroup& group : stencil_) {
      sum += static_cast<double>(group_sum(p, group.data(), group.size()));
    }
    return std::isfinite(sum);
  }

  std::vector<double> preset_of() const {
    MultilevelParams plain = params_;
    plain.coefficients.clear();
    std::vector<double> weights = tap_weights(plain, points_, stencil_);
    for (std::size_t g = 0; g < weights.size(); ++g) {
      weights[g] *= static_cast<double>(stencil_[g].size());
    }
    return {weights.begin() + 1, weights.end()};
  }

  static double residual(const ClassSample& sample, std::size_t k, const std::vector<double>& x) {
    const double* const row = sample.rows.data() + k * sample.unknowns;
    double r = sample.targets[k];
    for (std::size_t i = 0; i < sample.unknowns; ++i) r -= x[i] * row[i];
    return r;
  }

  std::optional<std::vector<double>> solve_round(const ClassSample& sample,
                                                 const std::vector<double>& x) const {
    NormalEquations equations(sample.unknowns);
    double weights = 0;
    for (std::size_t k = 0; k < sample.targets.size(); ++k) {
      const double r = residual(sample, k, x);
      const double weight = 1 / (r * r + bound_ * bound_);
      weights += weight;
      equations.add(sample.rows.data() + k * sample.unknowns, sample.targets[k], weight);
    }
    add_noise(weights, equations);
    return equations.solve(ridge);
  }

  /// The decoder's neighbours differ from the original's by quantisation noise.
  void add_noise(double weights, NormalEquations& equations) const {
    const double variance = weights * noise_share * bound_ * bound_ / 3;
    const double first = variance / static_cast<double>(stencil_[0].size());
    for (std::size_t i = 0; i + 1 < stencil_.size(); ++i) {
      equations.right(i) += first;
      for (std::size_t j = i; j + 1 < stencil_.size(); ++j) equations.matrix(i, j) += first;
      equations.matrix(i, i) += variance / static_cast<double>(stencil_[i + 1].size());
    }
  }

  static Coefficients to_integers(const std::vector<double>& x) {
    Coefficients result;
    for (const double c : x) {
      const double scaled = clamp_to(c * (1 << coefficient_bits), -16000.0, 16000.0);
      result.push_back(static_cast<std::int16_t>(round_half_even(scaled)));
    }
    return result;
  }

  /// About the bits of the class: half the logarithm of 1 + (r / bound)^2 per point.
  Cost cost_of(const ClassSample& sample, const std::vector<double>& x) const {
    Cost cost = 0;
    for (std::size_t k = 0; k < sample.targets.size(); ++k) {
      const double scaled = residual(sample, k, x) / bound_;
      const double square = clamp_to(scaled * scaled, 0.0, 1e12);
      cost += log2_of(static_cast<std::uint64_t>((1 + square) * 4096)) - (12U << cost_bits);
    }
    return cost / 2 * sample.points / sample.targets.size();
  }

  const MultilevelParams& params_;
  const Grid& grid_;
  const PointClass& points_;
  std::uint64_t most_points_;
  std::vector<TapGroup> stencil_;
  double bound_;
};

/// The original with NaN where it is missing, so that what is made from it is not finite either.
template <class T>
std::vector<T> without_missing(const FrameInput<T>& frame) {
  if (!frame.mask.any()) return {};
  std::vector<T> values(frame.values.begin(), frame.values.end());
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    if (frame.mask(i)) values[i] = std::numeric_limits<T>::quiet_NaN();
  }
  return values;
}

}  // namespace

template <class T>
void fit_coefficients(MultilevelParams& params, const FrameInput<T>& frame, FitSample sample) {
  const std::vector<T> cleaned = without_missing(frame);
  const T* const values = cleaned.empty() ? frame.values.data() : cleaned.data();
  const Schedule schedule = make_schedule(params);
  std::vector<PointClass> classes;
  for (const Pass& pass : schedule.passes) {
    classes.insert(classes.end(), pass.classes.begin(), pass.classes.end());
  }
  params.coefficients.clear();
  std::vector<Coefficients> fitted(classes.size());
  parallel_for(classes.size(), [&](std::uint64_t i) {
    fitted[i] = ClassFit<T>(params, schedule.grid, classes[i], sample).fit(values, frame.mask);
  });
  params.coefficients = std::move(fitted);
}

template void fit_coefficients(MultilevelParams&, const FrameInput<float>&, FitSample);
template void fit_coefficients(MultilevelParams&, const FrameInput<double>&, FitSample);

}  // namespace cuszi::cpu

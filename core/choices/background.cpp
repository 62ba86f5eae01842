#include "core/choices/background.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace cuszi {

namespace {

constexpr std::uint64_t exact_one_in = 20;
constexpr std::uint64_t common_one_in = 10;
constexpr std::size_t others_one_in = 8;     ///< at least
constexpr std::size_t few_values_come = 16;  ///< on average
constexpr std::uint8_t usual_snap = 8;
constexpr int mean_rounds = 5;
constexpr double sample_units = 4096;  ///< per bound

/// Sorted values from `first` on.
struct Run {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// The lowest of several.
Run densest_window(std::span<const double> sorted, double width) {
  Run densest;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::size_t first = i - densest.count;  // one value more
    if (sorted[i] - sorted[first] <= width) densest = {first, densest.count + 1};
  }
  return densest;
}

bool has_few_values(std::span<const double> sorted, std::size_t frequent) {
  const std::size_t others = sorted.size() - frequent;
  std::size_t different = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) different += sorted[i] != sorted[i - 1] ? 1 : 0;
  return others * others_one_in >= sorted.size() && different * few_values_come <= others;
}

std::span<const double> near(std::span<const double> sorted, double from, double bound) {
  const auto is_near = [&](double x) { return std::fabs(x - from) <= bound; };
  const auto first = std::partition_point(sorted.begin(), sorted.end(),
                                          [&](double x) { return x < from && !is_near(x); });
  const auto end =
      std::partition_point(first, sorted.end(), [&](double x) { return x < from || is_near(x); });
  return {first, end};
}

/// Terms are integers: their order does not matter.
template <class Term>
double sum_of(std::span<const double> values, const Term& term) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < values.size(); ++i)  // NOLINT(modernize-loop-convert)
    sum += term(values[i]);
  return sum;
}

double mean_around(std::span<const double> sorted, double from, double bound) {
  const std::span<const double> values = near(sorted, from, bound);
  if (values.empty()) return from;
  const double sum =
      sum_of(values, [&](double x) { return round_half_even((x - from) / bound * sample_units); });
  return from + sum / static_cast<double>(values.size()) / sample_units * bound;
}

/// In half steps.
double bias_on_grid(std::span<const double> values, double half_step) {
  constexpr double most_steps = 1e15;
  const double sum = sum_of(values, [&](double x) {
    const double steps = x / (2 * half_step);
    const double error = round_half_even((round_half_even(steps) - steps) * 2 * sample_units);
    return std::fabs(steps) < most_steps ? error : 0;
  });
  return sum / sample_units / static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

/// The largest half step of which a common value is an even multiple; else `half_step`.
double half_step_through(const Background& background, double half_step) {
  constexpr double fewest_steps = 8;
  constexpr double most_steps = 1e9;
  const double steps = std::fabs(background.frequent) / (2 * half_step);
  if (!background.is_common || steps < fewest_steps || steps > most_steps) return half_step;
  return std::fabs(background.frequent) / std::ceil(steps) / 2;
}

double without_sign_of_zero(double value) { return value + 0.0; }

/// The nearest float, which is stored in fewer bytes, if it adds little mean error; clamped to the
/// type.
double storable_near(double value, double bound, DType dtype) {
  constexpr double most_float = std::numeric_limits<float>::max();
  constexpr double most_double = std::numeric_limits<double>::max();
  constexpr double most_difference = most_bias / 2;  // in bounds
  const double nearest =
      static_cast<double>(static_cast<float>(std::clamp(value, -most_float, most_float)));
  const bool takes_float =
      dtype == DType::f32 || std::fabs(nearest - value) <= most_difference * bound;
  return without_sign_of_zero(takes_float ? nearest : std::clamp(value, -most_double, most_double));
}

/// A search step ends after `passes` if the extrapolated mean error is too large.
struct Stage {
  PassRange passes;
  double weight;  ///< of their errors, extrapolated to later passes
  double limit;   ///< limit, in bounds
};

/// Finer points mostly inherit the errors of the coarse lattice; passes of level 1 differ little
/// from its first one.
std::vector<Stage> stages_of(const Lattice& lattice) {
  const Schedule schedule = make_schedule(lattice);
  const std::size_t coarse = schedule.coarse_passes();
  if (coarse == 0 || coarse == schedule.passes.size()) return {};
  const auto points = [&](std::size_t first, std::size_t end) {
    std::uint64_t sum = 0;
    for (std::size_t i = first; i < end; ++i) sum += schedule.passes[i].points;
    return static_cast<double>(sum);
  };
  const std::size_t all = schedule.passes.size();
  const auto end = static_cast<int>(coarse);
  return {{{0, end}, points(0, all) / points(0, coarse), 2 * most_bias},
          {{end, end + 1}, points(coarse, all) / points(coarse, coarse + 1), 1.1 * most_bias}};
}

constexpr int most_steps = 3;  ///< of the secant method

struct BiasPoint {
  double background;
  double bias;

  /// Zero of the line through both points.
  double unbiased_between(const BiasPoint& other) const {
    return background + (other.background - background) * bias / (bias - other.bias);
  }
};

class Attempts {
 public:
  /// `points` excludes missing points.
  Attempts(EncodeSession& session, FrameCoding& coding, PassRange passes, std::uint64_t points)
      : session_(session), coding_(coding), passes_(passes), points_(static_cast<double>(points)) {}

  /// Returns the mean error in bounds, extrapolated if a stage's limit ends the attempt.
  double make(std::span<const Stage> stages) {
    start();
    std::int64_t before = 0;
    for (const Stage& stage : stages) {
      predict(stage.passes);
      const std::int64_t sum = encoder_->error_sum();
      const auto all =
          static_cast<double>(before) + static_cast<double>(sum - before) * stage.weight;
      if (std::fabs(mean(all)) > stage.limit) return recorded(mean(all));
      before = sum;
    }
    finish();
    return recorded(mean_error());
  }

  bool are_unbiased() const { return std::fabs(least_) <= most_bias; }

  /// Sets `coding` to the attempt with the least mean error, the first on ties.
  std::unique_ptr<PassEncoder> take_best() {
    if (!is_best_) {
      coding_.predictor = *best_;
      start();
    }
    finish();
    return std::move(encoder_);
  }

 private:
  void start() {
    encoder_.reset();
    encoder_ = session_.passes(coding_);
    predicted_ = passes_.first;
  }
  void predict(PassRange passes) {
    if (passes.first < passes.end) encoder_->predict(passes);
    predicted_ = passes.end;
  }
  void finish() { predict({predicted_, passes_.end}); }

  double mean(double sum) const { return sum / error_units / points_; }
  double mean_error() { return mean(static_cast<double>(encoder_->error_sum())); }
  double recorded(double bias) {
    is_best_ = !best_ || std::fabs(bias) < std::fabs(least_);
    if (is_best_) least_ = bias, best_ = coding_.predictor;
    return bias;
  }

  EncodeSession& session_;
  FrameCoding& coding_;
  PassRange passes_;
  double points_;
  std::unique_ptr<PassEncoder> encoder_;
  int predicted_ = 0;  ///< next pass
  std::optional<PredictorParams> best_;
  double least_ = 0;
  bool is_best_ = false;
};

}  // namespace

Background find_background(std::vector<double> values, double bound, DType dtype) {
  Background background;
  if (values.empty()) return background;
  const Run equals = densest_window(values, 0);
  const Run window = densest_window(values, 2 * bound);
  const double lowest = values[window.first];
  const double middle = lowest + (values[window.first + window.count - 1] - lowest) / 2;
  background.frequent = without_sign_of_zero(values[equals.first]);
  background.is_common = equals.count * common_one_in >= values.size();
  background.has_few_values = has_few_values(values, equals.count);
  background.is_exact = equals.count * exact_one_in >= values.size() &&
                        std::fabs(background.frequent - middle) <= 2 * bound;
  background.value = background.frequent;
  if (!background.is_exact) {
    double mean = middle;
    for (int round = 0; round < mean_rounds; ++round) {
      const double before = std::exchange(mean, mean_around(values, mean, bound));
      if (mean == before) break;
    }
    background.value = storable_near(mean, bound, dtype);
  }
  background.share = static_cast<double>(near(values, background.value, bound).size()) /
                     static_cast<double>(values.size());
  background.sample = std::move(values);
  return background;
}

void set_background(const Background& background, MultilevelParams& params) {
  params.background = background.value;
  params.snap = background.is_exact ? usual_snap : 0;
}

double half_step_for_grid(const Background& background, double half_step) {
  constexpr int attempts = 24;
  constexpr double smaller_by = 1.0 / 256;
  const auto is_unbiased = [&](double attempt) {
    return std::fabs(bias_on_grid(background.sample, attempt)) <= most_bias / 2;
  };
  const double preferred = half_step_through(background, half_step);
  if (is_unbiased(preferred)) return preferred;
  for (int i = 0; i < attempts; ++i) {
    const double attempt = half_step * (1 - i * smaller_by);
    if (is_unbiased(attempt)) return attempt;
  }
  return preferred;
}

std::unique_ptr<PassEncoder> predict_unbiased(EncodeSession& session, FrameCoding& coding,
                                              PassRange passes, const FrameShape& shape) {
  const std::uint64_t points = shape.points() - session.scan().missing;
  Attempts attempts(session, coding, passes, points);
  auto* const params = std::get_if<MultilevelParams>(&coding.predictor);
  const std::vector<Stage> stages =
      params == nullptr ? std::vector<Stage>{} : stages_of(params->lattice);
  // Most frames need no other attempt: these are not held up more than once.
  attempts.make(std::span(stages).first(std::min<std::size_t>(stages.size(), 1)));
  if (params == nullptr || attempts.are_unbiased()) return attempts.take_best();
  const Background background =
      find_background(session.sampled_values(), coding.tolerance.bound, shape.dtype);
  const std::uint8_t first = params->snap;
  for (const std::uint8_t snap : std::array<std::uint8_t, 4>{4, 8, 12, 16}) {
    if (snap <= first) continue;
    params->snap = snap;
    params->background = background.value;
    const double bias = attempts.make(stages);
    if (attempts.are_unbiased()) break;
    if (background.is_exact && snap != snap_units) continue;  // only as a last resort
    if (background.share == 0) continue;                      // a shift would have no effect
    BiasPoint here{background.value, bias};
    BiasPoint there{background.value - bias * coding.tolerance.bound / background.share, 0};
    const auto lean = [&](double value) {
      params->background = storable_near(value, coding.tolerance.bound, shape.dtype);
      return attempts.make(stages);
    };
    there.bias = lean(there.background);
    for (int step = 0; step < most_steps && !attempts.are_unbiased(); ++step) {
      if (here.bias * there.bias >= 0) break;
      const double between = here.unbiased_between(there);
      if (!std::isfinite(between)) break;
      const double left = lean(between);
      (left * here.bias > 0 ? here : there) = {between, left};
    }
    if (attempts.are_unbiased()) break;
  }
  return attempts.take_best();
}

}  // namespace cuszi

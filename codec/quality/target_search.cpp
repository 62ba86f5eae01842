#include "codec/quality/target_search.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "codec/field/field_source.hpp"
#include "codec/quality/bound_search.hpp"
#include "codec/quality/field_sample.hpp"

namespace cuszi {

namespace {

constexpr double psnr_window = 0.1;    ///< dB over the target that are as good as it
constexpr double ratio_window = 0.12;  ///< 2.8 %
constexpr int most_steps = 6;
constexpr double first_ratio_bound = 1e-3;  ///< as a share of the range

/// What decides how errors are spread over levels and how carefully codes are chosen.
struct Tuning {
  double alpha;
  double beta;
  double bound_over_half_step;
};

/// The first is what a bound would use.
constexpr std::array<Tuning, 5> tunings{
    {{1.25, 2, 1}, {1.25, 2, 1.6}, {1.75, 3.98, 1.6}, {1.5, 3, 1.6}, {2, 3.98, 2}}};
constexpr int tuning_steps = 3;
constexpr double tuning_window = 0.3;  ///< dB

double psnr_of(const Quality& quality) {
  return quality.psnr().value_or(std::numeric_limits<double>::infinity());
}

double score_of(const Target& target, double reached) {
  return target.kind == Target::Kind::psnr ? reached : 10 * std::log10(reached);
}

/// Scores that end the search for a target; a ratio's score is ten times its logarithm, too.
Goal goal_of(const Target& target) {
  const double least = score_of(target, target.value);
  const bool psnr = target.kind == Target::Kind::psnr;
  return {least, least + (psnr ? psnr_window : ratio_window), !psnr};
}

/// Trials on one sample for one target.
class TargetSearch {
 public:
  TargetSearch(const Target& target, Backend& backend, FieldSample sample)
      : target_(target), backend_(backend), sample_(std::move(sample)) {}

  FieldSettings run(FieldSettings settings) {
    if (!(sample_.range.any && sample_.range.width() > 0 && std::isfinite(sample_.range.width()))) {
      settings.bound = 0;
      return settings;
    }
    settings.bound = first_bound();
    const FieldSettings chosen = with_choices(result_for(settings), settings);
    AtTarget best = reach_target(with_best_tuning(chosen));
    if (is_open(settings) && !is_multilevel(chosen)) {
      settings.frame.predictor.automatic = false;
      const AtTarget other = reach_target(with_best_tuning(settings));
      if (other.bytes < best.bytes) best = other;
    }
    return best.settings;
  }

 private:
  /// Where errors fill the bound evenly.
  double first_bound() const {
    const double width = sample_.range.width();
    if (target_.kind == Target::Kind::ratio) return first_ratio_bound * width;
    const double half = std::sqrt(3.0) * (width / 2) * std::pow(10, -target_.value / 20);
    return half < width / 2 ? 2 * half : width;  // twice half of a width may overflow
  }

  double limited(double bound) const { return std::min(bound, sample_.range.width()); }

  SampleResult result_for(const FieldSettings& settings) const {
    return code_sample(sample_, backend_, settings, target_.kind == Target::Kind::psnr);
  }

  double score(const SampleResult& result) const {
    const bool psnr = target_.kind == Target::Kind::psnr;
    return score_of(target_, psnr ? psnr_of(result.quality) : result.ratio());
  }

  /// Where the sample is the field, later trials need not choose method, axes and reach again.
  FieldSettings with_choices(const SampleResult& result, FieldSettings settings) const {
    PredictorConfig& config = settings.frame.predictor;
    if (!sample_.whole || !result.method) return settings;
    config.id = id_of(result.method->predictor);
    config.automatic = false;
    settings.frame.coder = result.method->coder;
    settings.frame.automatic_coder = false;
    const auto* const params = std::get_if<MultilevelParams>(&result.method->predictor);
    if (params == nullptr) return settings;
    config.multilevel.roles = AxisRoles{params->lattice.merged, params->lattice.roles};
    config.multilevel.reach = params->reach;
    return settings;
  }

  static bool is_multilevel(const FieldSettings& settings) {
    return settings.frame.predictor.id == PredictorId::multilevel;
  }

  /// Whether `multilevel`, with its errors spread as a target likes, may take less there than what
  /// trials have found at a bound.
  bool is_open(const FieldSettings& settings) const {
    return target_.kind == Target::Kind::psnr && settings.frame.predictor.automatic &&
           settings.frame.predictor.multilevel.effort != Effort::fast;
  }

  /// Settings with the bound that the target needs, and what the sample takes with them.
  struct AtTarget {
    FieldSettings settings;
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
  };

  AtTarget reach_target(FieldSettings settings) const {
    BoundSearch search(goal_of(target_), settings.bound, most_steps);
    std::map<double, std::uint64_t> bytes_at;  // by the bounds tried
    while (!search.done()) {
      settings.bound = limited(search.bound());
      const SampleResult result = result_for(settings);
      bytes_at[settings.bound] = result.archive_bytes;
      search.add(score(result));
    }
    const std::optional<double> best = search.best();
    settings.bound = limited(best.value_or(search.bound()));
    return best ? AtTarget{settings, bytes_at[settings.bound]} : AtTarget{settings};
  }

  FieldSettings with_best_tuning(const FieldSettings& settings) const {
    const MultilevelConfig& asked = settings.frame.predictor.multilevel;
    const bool tunes = target_.kind == Target::Kind::psnr && is_multilevel(settings);
    if (!tunes || asked.effort == Effort::fast) return settings;
    FieldSettings best = settings;
    double fewest = std::numeric_limits<double>::infinity();
    for (const Tuning& tuning : tunings) {
      FieldSettings tuned = settings;
      MultilevelConfig& config = tuned.frame.predictor.multilevel;
      config.alpha = asked.alpha.value_or(tuning.alpha);
      config.beta = asked.beta.value_or(tuning.beta);
      config.bound_over_half_step = tuning.bound_over_half_step;
      tuned.bound = limited(settings.bound * tuning.bound_over_half_step);
      const double bytes = bytes_at_target(tuned);
      if (!(bytes < fewest)) continue;
      fewest = bytes;
      best = tuned;
    }
    return best;
  }

  /// A trial that loses something.
  struct LossyTrial {
    double bound;
    double psnr;
    double log_bytes;
  };

  /// What the sample takes at the target, interpolated between two trials. Leaves the bound there,
  /// or, where some bounds lose nothing, at one that does.
  double bytes_at_target(FieldSettings& settings) const {
    BoundSearch search({target_.value - tuning_window, target_.value + tuning_window, false},
                       settings.bound, tuning_steps);
    std::vector<LossyTrial> lossy;
    bool always_loses = true;
    while (!search.done()) {
      settings.bound = limited(search.bound());
      const SampleResult result = result_for(settings);
      search.add(score(result));
      const double psnr = psnr_of(result.quality);
      if (std::isfinite(psnr)) {
        const auto bytes = static_cast<double>(result.archive_bytes);
        lossy.push_back({settings.bound, psnr, std::log(bytes)});
      } else {
        always_loses = false;
      }
    }
    settings.bound = limited(search.bound());
    if (lossy.empty()) return std::numeric_limits<double>::infinity();
    const LossyTrial& last = lossy.back();
    if (!always_loses) settings.bound = last.bound;
    constexpr double usual_slope = 0.08;  // logarithm of the bytes per dB
    double slope = usual_slope;
    if (lossy.size() > 1) {
      const LossyTrial& before = lossy[lossy.size() - 2];
      if (std::abs(before.psnr - last.psnr) > 0.1) {
        slope = (before.log_bytes - last.log_bytes) / (before.psnr - last.psnr);
      }
    }
    return std::exp(last.log_bytes + slope * (target_.value - last.psnr));
  }

  const Target& target_;
  Backend& backend_;
  FieldSample sample_;
};

/// Settings with an absolute bound that should reach the target, found by compressing samples of
/// the field (the field itself if it is small), and for a PSNR with the level-wise bounds and the
/// bound_over_half_step that take the fewest bits there. A field without a range is lossless.
FieldSettings settings_for(const Target& target, const FieldSettings& settings, Backend& backend,
                           FieldSource& field) {
  FieldSettings absolute = settings;
  absolute.mode = ErrorMode::absolute;
  absolute.has_target = true;
  return TargetSearch(target, backend, take_sample(backend, absolute, field)).run(absolute);
}

double reached_by(const TargetArchive& attempt, const Target& target, const FieldSource& field) {
  if (target.kind == Target::Kind::psnr) {
    return attempt.meter->quality().psnr().value_or(std::numeric_limits<double>::infinity());
  }
  return static_cast<double>(field.layout().field_bytes()) /
         static_cast<double>(attempt.result.archive_bytes);
}

bool is_better(const Target& target, double a, double b) {
  if (is_met(target, a) != is_met(target, b)) return is_met(target, a);
  return is_met(target, a) ? a < b : a > b;
}

}  // namespace

std::string to_string(const Target& target) {
  return fmt::format("{}:{:g}", target.kind == Target::Kind::psnr ? "psnr" : "ratio", target.value);
}

TargetArchive compress_to_target(const Target& target, const FieldSettings& settings,
                                 Backend& backend, FieldSource& field, const TargetPass& make) {
  FieldSettings tried = settings_for(target, settings, backend, field);
  BoundSearch search(goal_of(target), tried.bound, tried.bound == 0 ? 1 : most_target_passes);
  std::optional<TargetArchive> best;
  for (int pass = 1; !search.done(); ++pass) {
    tried.bound = search.bound();
    TargetArchive attempt = make(tried, pass);
    attempt.reached = reached_by(attempt, target, field);
    search.add(score_of(target, attempt.reached));
    if (!best || is_better(target, attempt.reached, best->reached)) best = std::move(attempt);
  }
  return std::move(*best);
}

}  // namespace cuszi

#include "codec/quality/target_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "codec/archive/archive_reader.hpp"
#include "codec/field/field_source.hpp"
#include "codec/io/byte_source.hpp"
#include "codec/quality/bound_search.hpp"
#include "codec/quality/field_sample.hpp"
#include "core/choices/policy.hpp"

namespace cuszi {

namespace {

constexpr double psnr_window = 0.1;    ///< dB above the target
constexpr double ratio_window = 0.12;  ///< 2.8 %
constexpr double sample_window = 0.4;  ///< dB around the target
constexpr int most_steps = 6;
constexpr double first_ratio_bound = 1e-3;  ///< share of the range

struct Tuning {
  double alpha;
  double beta;
  double bound_over_half_step;
};

/// First: the default of bounds.
constexpr std::array<Tuning, 5> tunings{
    {{1.25, 2, 1}, {1.25, 2, 1.6}, {1.75, 3.98, 1.6}, {1.5, 3, 1.6}, {2, 3.98, 2}}};
constexpr double usual_slope = 0.08;  ///< log(bytes) per dB

double psnr_of(const Quality& quality) {
  return quality.psnr().value_or(std::numeric_limits<double>::infinity());
}

double score_of(const Target& target, double reached) {
  return target.kind == Target::Kind::psnr ? reached : 10 * std::log10(reached);
}

/// A ratio's score is ten times its logarithm.
Goal goal_of(const Target& target) {
  const double least = score_of(target, target.value);
  const bool psnr = target.kind == Target::Kind::psnr;
  return {least, least + (psnr ? psnr_window : ratio_window), !psnr};
}

/// Fixes method, axes and reach.
FieldSettings with_choices(const Method& method, FieldSettings settings) {
  PredictorConfig& config = settings.frame.predictor;
  config.id = id_of(method.predictor);
  config.automatic = false;
  settings.frame.coder = method.coder;
  const auto* const params = std::get_if<MultilevelParams>(&method.predictor);
  if (params == nullptr) return settings;
  config.multilevel.roles = AxisRoles{params->lattice.merged, params->lattice.roles};
  config.multilevel.reach = params->reach;
  return settings;
}

/// Method of the first frame.
std::optional<Method> method_in(Bytes archive) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  const auto first =
      reader.next_frame([](const ArchiveFrame& /*table*/) { return std::size_t{0}; });
  if (first.header.kind != FrameKind::coded) return std::nullopt;
  return Method{*first.header.predictor, id_of(*first.header.coder)};
}

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
    const FieldSettings chosen = with_choices(settings);
    AtTarget best = best_at_target(chosen);
    if (is_open(settings) && !is_multilevel(chosen)) {
      settings.frame.predictor.automatic = false;
      const AtTarget other = best_at_target(settings);
      if (other.bytes < best.bytes) return other.settings;
      settings.frame.predictor.automatic = true;
    }
    return sample_.whole ? best.settings : without_choices(best.settings, settings);
  }

 private:
  /// For uniform errors.
  double first_bound() const {
    const double width = sample_.range.width();
    if (target_.kind == Target::Kind::ratio) return first_ratio_bound * width;
    const double half = std::sqrt(3.0) * (width / 2) * std::pow(10, -target_.value / 20);
    return half < width / 2 ? 2 * half : width;  // avoids overflow
  }

  double limited(double bound) const { return std::min(bound, sample_.range.width()); }

  SampleResult result_for(const FieldSettings& settings) const {
    return code_sample(sample_, backend_, settings, target_.kind == Target::Kind::psnr);
  }

  double score(const SampleResult& result) const {
    const bool psnr = target_.kind == Target::Kind::psnr;
    return score_of(target_, psnr ? psnr_of(result.quality) : result.ratio());
  }

  /// Trials need not repeat one box's choices.
  FieldSettings with_choices(const FieldSettings& settings) const {
    const FieldSample one{sample_.range, sample_.whole, {sample_.boxes[sample_.boxes.size() / 2]}};
    const SampleResult result = code_sample(one, backend_, settings, false);
    return sample_.has_one_shape() && result.method ? cuszi::with_choices(*result.method, settings)
                                                    : settings;
  }

  /// Only the bounds found.
  static FieldSettings without_choices(const FieldSettings& found, FieldSettings settings) {
    settings.bound = found.bound;
    const MultilevelConfig& tuned = found.frame.predictor.multilevel;
    MultilevelConfig& config = settings.frame.predictor.multilevel;
    config.alpha = tuned.alpha;
    config.beta = tuned.beta;
    config.bound_over_half_step = tuned.bound_over_half_step;
    return settings;
  }

  static bool is_multilevel(const FieldSettings& settings) {
    return settings.frame.predictor.id == PredictorId::multilevel;
  }

  /// Whether `multilevel`, tuned for a target, may beat the trials' choice.
  bool is_open(const FieldSettings& settings) const {
    return target_.kind == Target::Kind::psnr && settings.frame.predictor.automatic &&
           policy_of(settings.frame.predictor.multilevel.effort).tunes_targets;
  }

  struct Trial {
    double psnr = 0;
    double log_bytes = 0;
  };

  struct AtTarget {
    FieldSettings settings;
    double bytes = std::numeric_limits<double>::infinity();
    double slope = usual_slope;
  };

  /// Extrapolated.
  double bytes_at_target(const Trial& trial, double slope) const {
    const double rest = std::isfinite(trial.psnr) ? slope * (target_.value - trial.psnr) : 0;
    return std::exp(trial.log_bytes + rest);
  }

  double bound_factor(const Trial& trial) const {
    return std::pow(10, (trial.psnr - target_.value - psnr_window / 2) / 20);
  }

  Trial trial_of(const SampleResult& result) const {
    return {psnr_of(result.quality), std::log(static_cast<double>(result.archive_bytes))};
  }

  /// Later passes over the whole field are exact.
  Goal sample_goal() const {
    Goal goal = goal_of(target_);
    if (sample_.whole) return goal;
    goal.least -= sample_window / 2;
    goal.most += sample_window / 2;
    return goal;
  }

  AtTarget reach_target(FieldSettings settings) const {
    BoundSearch search(sample_goal(), settings.bound, most_steps);
    std::map<double, Trial> trials;  // by bound
    while (!search.done()) {
      settings.bound = limited(search.bound());
      const SampleResult result = result_for(settings);
      trials[settings.bound] = trial_of(result);
      search.add(score(result));
    }
    const std::optional<double> best = search.best();
    settings.bound = limited(best.value_or(search.bound()));
    if (!best) return {settings};
    const auto here = trials.find(settings.bound);
    const auto there = here != trials.begin() ? std::prev(here) : std::next(here);
    const double slope =
        there != trials.end() ? slope_of(here->second, there->second) : usual_slope;
    const double bytes = bytes_at_target(here->second, slope);
    if (!sample_.whole && target_.kind == Target::Kind::psnr && std::isfinite(here->second.psnr)) {
      settings.bound = limited(settings.bound * bound_factor(here->second));
    }
    return {settings, bytes, slope};
  }

  static double slope_of(const Trial& a, const Trial& b) {
    const double step = a.psnr - b.psnr;
    if (!(std::abs(step) > 0.1) || !std::isfinite(step)) return usual_slope;
    return std::clamp((a.log_bytes - b.log_bytes) / step, usual_slope / 4, 4 * usual_slope);
  }

  FieldSettings tuned(FieldSettings settings, const Tuning& tuning) const {
    const MultilevelConfig asked = settings.frame.predictor.multilevel;
    MultilevelConfig& config = settings.frame.predictor.multilevel;
    config.alpha = asked.alpha.value_or(tuning.alpha);
    config.beta = asked.beta.value_or(tuning.beta);
    config.bound_over_half_step = tuning.bound_over_half_step;
    settings.bound = limited(settings.bound * tuning.bound_over_half_step);
    return settings;
  }

  /// One trial per tuning, near the first one's bound.
  AtTarget best_at_target(const FieldSettings& settings) const {
    const bool tunes = target_.kind == Target::Kind::psnr && is_multilevel(settings) &&
                       policy_of(settings.frame.predictor.multilevel.effort).tunes_targets;
    if (!tunes) return reach_target(settings);
    AtTarget first = reach_target(tuned(settings, tunings.front()));
    FieldSettings at_first = settings;
    at_first.bound = first.settings.bound;
    std::optional<AtTarget> best;
    for (const Tuning& tuning : std::span(tunings).subspan(1)) {
      FieldSettings other = tuned(at_first, tuning);
      const Trial trial = trial_of(result_for(other));
      const double bytes = bytes_at_target(trial, first.slope);
      if (!std::isfinite(trial.psnr) || !(bytes < (best ? *best : first).bytes)) continue;
      other.bound = limited(other.bound * bound_factor(trial));
      best = AtTarget{other, bytes, first.slope};
    }
    if (!best) return first;
    const AtTarget reached = reach_target(best->settings);
    return reached.bytes < first.bytes ? reached : first;
  }

  const Target& target_;
  Backend& backend_;
  FieldSample sample_;
};

/// An absolute bound from trials on samples; for a PSNR also tuned. A field without range is
/// lossless.
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
    // A new method moves the PSNR more than the bound does.
    const auto method = pass == 1 && !search.done() ? method_in(attempt.archive) : std::nullopt;
    if (method) tried = with_choices(*method, tried);
    if (!best || is_better(target, attempt.reached, best->reached)) best = std::move(attempt);
  }
  return std::move(*best);
}

}  // namespace cuszi

#include "codec/quality/bound_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cuszi {

namespace {

/// dB per unit of the logarithm, for uniform errors; ratios rise more slowly.
constexpr double psnr_slope = -8.686;
constexpr double ratio_slope = 3;
constexpr double widest_slope = 5;  ///< secant's slope, as a multiple
constexpr double longest_step = 3;

/// Clamped to a finite double.
double bound_at(double log_bound) {
  return std::min(std::exp(log_bound), std::numeric_limits<double>::max());
}

}  // namespace

BoundSearch::BoundSearch(const Goal& goal, double first_bound, int steps)
    : goal_(goal), next_(std::log(first_bound)), steps_(steps) {}

double BoundSearch::bound() const { return bound_at(next_); }

void BoundSearch::add(double score) {
  const Tried tried{next_, score};
  const bool met = score >= goal_.least;
  std::optional<Tried>& side = met ? met_ : missed_;
  const bool nearer = !side || (met ? score <= side->score : score >= side->score);
  if (nearer) side = tried;
  if (std::isfinite(score)) {
    before_ = last_;
    last_ = tried;
  }
  --steps_;
  if (met && score <= goal_.most) steps_ = 0;
  next_ = next_log_bound(tried);
}

std::optional<double> BoundSearch::best() const {
  if (!met_) return std::nullopt;
  return bound_at(met_->log_bound);
}

/// Secant of the last two trials, between a bound that met the goal and one that missed.
double BoundSearch::next_log_bound(const Tried& tried) const {
  const double aim = (goal_.least + goal_.most) / 2;
  double step = goal_.rises ? -longest_step : longest_step;  // away from a lossless bound
  if (!std::isfinite(tried.score)) {
    // Unless the bound codes nothing.
    if (last_ && (last_->log_bound > tried.log_bound) == goal_.rises) {
      return (last_->log_bound + tried.log_bound) / 2;
    }
  } else {
    step = std::clamp((aim - tried.score) / slope(), -longest_step, longest_step);
  }
  const double next = tried.log_bound + step;
  if (!met_ || !missed_) return next;
  const auto [low, high] = std::minmax(met_->log_bound, missed_->log_bound);
  return next > low && next < high ? next : (low + high) / 2;
}

double BoundSearch::slope() const {
  const double usual = goal_.rises ? ratio_slope : psnr_slope;
  if (!before_ || before_->log_bound == last_->log_bound) return usual;
  const double secant = (last_->score - before_->score) / (last_->log_bound - before_->log_bound);
  return usual * std::clamp(secant / usual, 1 / widest_slope, widest_slope);
}

}  // namespace cuszi

#include "core/field/metrics.hpp"

#include <algorithm>
#include <cmath>

namespace cuszi {

namespace {

constexpr double decibels_per_binade = 6.0205999132796239;  // 20 log10(2)

/// The value range in units of 2^exponent; also valid if it overflows.
double scaled_range(const Quality& quality, int& exponent) {
  const bool overflows = !std::isfinite(quality.range());
  const double range = overflows ? quality.max / 2 - quality.min / 2 : quality.range();
  const double part = std::frexp(range, &exponent);
  if (overflows) ++exponent;
  return part;
}

}  // namespace

void ErrorSums::add(const ErrorSums& other) {
  if (other.squares == 0) return;
  const int common = squares == 0 ? other.exponent : std::max(exponent, other.exponent);
  const auto add_scaled = [&](double& sum, double next, int power) {
    sum = std::ldexp(sum, power * (exponent - common)) +
          std::ldexp(next, power * (other.exponent - common));
  };
  add_scaled(errors, other.errors, 1);
  add_scaled(squares, other.squares, 2);
  exponent = common;
}

int square_exponent(double largest) {
  constexpr int harmless = 400;
  if (largest == 0 || !std::isfinite(largest)) return 0;
  constexpr int most = 1000;  // so that 2^-exponent is a double
  const int exponent = std::clamp(std::ilogb(largest), -most, most);
  return exponent > -harmless && exponent < harmless ? 0 : exponent;
}

Quality SeenPoints::quality(const ErrorSums& sums) const {
  const auto unless_never = [](std::uint64_t point) {
    return point == never ? std::nullopt : std::optional(point);
  };
  Quality quality;
  static_cast<PointCounts&>(quality) = *this;
  if (points != 0) {
    quality.min = min;
    quality.max = max;
  }
  quality.error_sums = sums;
  quality.first_differ = unless_never(first_differ);
  quality.first_crossing = unless_never(first_crossing);
  quality.first_bad = unless_never(first_bad);
  return quality;
}

void Quality::merge(const Quality& next) {
  const std::uint64_t before = points + missing;
  if (!first_bad && next.first_bad) first_bad = before + *next.first_bad;
  if (!first_differ && next.first_differ) first_differ = before + *next.first_differ;
  missing_differ += next.missing_differ;
  if (!first_crossing && next.first_crossing) first_crossing = before + *next.first_crossing;
  crossings += next.crossings;
  if (next.points != 0) {
    min = points == 0 ? next.min : std::min(min, next.min);
    max = points == 0 ? next.max : std::max(max, next.max);
  }
  points += next.points;
  missing += next.missing;
  if (next.max_error > max_error || std::isnan(next.max_error)) max_error = next.max_error;
  max_share = std::max(max_share, next.max_share);
  max_of_bound = std::max(max_of_bound, next.max_of_bound);
  error_sums.add(next.error_sums);
  counts.add(next.counts);
}

double Quality::mean_error() const {
  if (points == 0) return 0;
  return std::ldexp(error_sums.errors / static_cast<double>(points), error_sums.exponent);
}

double Quality::rmse() const {
  if (points == 0) return 0;
  return std::ldexp(std::sqrt(error_sums.squares / static_cast<double>(points)),
                    error_sums.exponent);
}

double Quality::nrmse() const {
  if (error_sums.squares == 0) return 0;
  int exponent = 0;
  const double range = scaled_range(*this, exponent);
  const double error = std::sqrt(error_sums.squares / static_cast<double>(points));
  return std::ldexp(error / range, error_sums.exponent - exponent);
}

std::optional<double> Quality::psnr() const {
  if (error_sums.squares == 0 || range() == 0) return std::nullopt;
  int exponent = 0;
  const double range = scaled_range(*this, exponent);
  const double error = std::sqrt(error_sums.squares / static_cast<double>(points));
  return 20 * std::log10(range / error) + decibels_per_binade * (exponent - error_sums.exponent);
}

}  // namespace cuszi

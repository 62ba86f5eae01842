#include "core/metrics.hpp"

#include <algorithm>
#include <cmath>

namespace cuszi {

void Quality::merge(const Quality& next) {
  if (!first_bad && next.first_bad) first_bad = points + missing + *next.first_bad;
  if (next.points != 0) {
    min = points == 0 ? next.min : std::min(min, next.min);
    max = points == 0 ? next.max : std::max(max, next.max);
  }
  points += next.points;
  missing += next.missing;
  if (next.max_error > max_error || std::isnan(next.max_error)) max_error = next.max_error;
  squared_error += next.squared_error;
}

double Quality::rmse() const {
  return points == 0 ? 0 : std::sqrt(squared_error / static_cast<double>(points));
}

double Quality::nrmse() const {
  const double error = rmse();
  return error == 0 ? 0 : error / range();
}

std::optional<double> Quality::psnr() const {
  const double error = rmse();
  if (error == 0 || range() == 0) return std::nullopt;
  return 20 * std::log10(range() / error);
}

}  // namespace cuszi

#include "core/fidelity.hpp"

#include <algorithm>
#include <cmath>

namespace cuszi {

void PairSums::add(const PairSums& other) {
  pairs += other.pairs;
  x += other.x;
  y += other.y;
  xx += other.xx;
  yy += other.yy;
  xy += other.xy;
}

std::optional<double> PairSums::correlation() const {
  if (pairs == 0) return std::nullopt;
  const double x_variance = xx / pairs - (x / pairs) * (x / pairs);
  const double y_variance = yy / pairs - (y / pairs) * (y / pairs);
  const double rounding = 1e-12 * std::max(xx, yy) / pairs;
  if (!(x_variance > rounding && y_variance > rounding)) return std::nullopt;
  const double covariance = xy / pairs - (x / pairs) * (y / pairs);
  return std::clamp(covariance / std::sqrt(x_variance * y_variance), -1.0, 1.0);
}

void Fidelity::rescale(int to) {
  error_sum = std::ldexp(error_sum, exponent - to);
  for (PairSums& sums : neighbours) {
    for (double* const sum : {&sums.x, &sums.y}) *sum = std::ldexp(*sum, exponent - to);
    for (double* const sum : {&sums.xx, &sums.yy, &sums.xy}) {
      *sum = std::ldexp(*sum, 2 * (exponent - to));
    }
  }
  exponent = to;
}

void Fidelity::merge(const Fidelity& next) {
  const bool is_first = points + missing == 0;
  Fidelity other = next;
  const int common = is_first ? other.exponent : std::max(exponent, other.exponent);
  rescale(common);
  other.rescale(common);
  points += other.points;
  missing += other.missing;
  missing_kept += other.missing_kept;
  zeros += other.zeros;
  zeros_kept += other.zeros_kept;
  negative += other.negative;
  made_negative += other.made_negative;
  error_sum += other.error_sum;
  for (std::size_t axis = 0; axis < neighbours.size(); ++axis) {
    neighbours[axis].add(other.neighbours[axis]);
  }
  ssim_sum += other.ssim_sum;
  ssim_windows += other.ssim_windows;
}

double Fidelity::mean_error() const {
  return points == 0 ? 0 : std::ldexp(error_sum / static_cast<double>(points), exponent);
}

std::optional<double> Fidelity::ssim() const {
  if (ssim_windows == 0) return std::nullopt;
  return ssim_sum / static_cast<double>(ssim_windows);
}

double ssim_of(const WindowSums& window) {
  constexpr double count = window_side * window_side;
  constexpr double c1 = 0.01 * 0.01;
  constexpr double c2 = 0.03 * 0.03;
  const double x_mean = window.x / count;
  const double y_mean = window.y / count;
  const double x_variance = window.xx / count - x_mean * x_mean;
  const double y_variance = window.yy / count - y_mean * y_mean;
  const double covariance = window.xy / count - x_mean * y_mean;
  return (2 * x_mean * y_mean + c1) * (2 * covariance + c2) /
         ((x_mean * x_mean + y_mean * y_mean + c1) * (x_variance + y_variance + c2));
}

}  // namespace cuszi

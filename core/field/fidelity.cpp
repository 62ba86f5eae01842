#include <algorithm>
#include <cmath>

#include "core/field/fidelity_points.hpp"

namespace cuszi {

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
  if (to == exponent) return;
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
  FidelityCounts::add(other);
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

FidelityCuts::FidelityCuts(const Dims& dims)
    : rank(dims.rank()), points(dims.count()), width(dims[dims.rank() - 1]) {
  std::copy(dims.extents().begin(), dims.extents().end(), extents.begin());
  segments_per_row = ceil_div(width, fidelity_segment_points);
  segments = points / width * segments_per_row;
  const Dims squeezed = dims.squeezed();
  if (squeezed.rank() < 2) return;
  const std::uint64_t across = squeezed[squeezed.rank() - 1];
  const std::uint64_t down = squeezed[squeezed.rank() - 2];
  if (across < window_side || down < window_side) return;
  plane_width = across;
  plane_height = down;
  planes = points / (across * down);
}

int fidelity_exponent(double largest_half_error) {
  return largest_half_error == 0 ? 0 : std::ilogb(largest_half_error) + 1;
}

template <class T>
void ComparedValues<T>::set_exponent(int exponent) {
  const int power = 1 - exponent;  // of half errors
  scale = std::ldexp(1.0, power / 2);
  rest_of_scale = std::ldexp(1.0, power - power / 2);
}

template struct ComparedValues<float>;
template struct ComparedValues<double>;

}  // namespace cuszi

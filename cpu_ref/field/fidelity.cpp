#include "cpu_ref/field/fidelity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/field/metrics.hpp"
#include "core/field/stored_type.hpp"
#include "cpu_ref/base/parallel.hpp"

namespace cuszi {

void PairSums::add(const PairSums& other) {
  pairs += other.pairs;
  x += other.x;
  y += other.y;
  xx += other.xx;
  yy += other.yy;
  xy += other.xy;
}

void PairSums::rescale(int from, int to) {
  for (double* const sum : {&x, &y}) *sum = std::ldexp(*sum, from - to);
  for (double* const sum : {&xx, &yy, &xy}) *sum = std::ldexp(*sum, 2 * (from - to));
}

std::optional<double> PairSums::correlation() const {
  if (pairs == 0) return std::nullopt;
  const double x_variance = xx / pairs - (x / pairs) * (x / pairs);
  const double y_variance = yy / pairs - (y / pairs) * (y / pairs);
  const double rounding = 1e-12 * std::max(xx, yy) / pairs;
  if (!(x_variance > rounding && y_variance > rounding)) return std::nullopt;
  const double covariance = xy / pairs - (x / pairs) * (y / pairs);
  return std::clamp(covariance / (std::sqrt(x_variance) * std::sqrt(y_variance)), -1.0, 1.0);
}

void Fidelity::merge(const Fidelity& next) {
  const bool is_first = std::all_of(neighbours.begin(), neighbours.end(),
                                    [](const PairSums& sums) { return sums.pairs == 0; });
  const int common = is_first ? next.exponent : std::max(exponent, next.exponent);
  for (std::size_t axis = 0; axis < neighbours.size(); ++axis) {
    PairSums other = next.neighbours[axis];
    other.rescale(next.exponent, common);
    neighbours[axis].rescale(exponent, common);
    neighbours[axis].add(other);
  }
  exponent = common;
  ssim_sum += next.ssim_sum;
  ssim_windows += next.ssim_windows;
}

std::optional<double> Fidelity::ssim() const {
  if (ssim_windows == 0) return std::nullopt;
  return ssim_sum / static_cast<double>(ssim_windows);
}

namespace cpu {

namespace {

constexpr std::uint64_t block_points = 4096;
constexpr std::size_t lanes = 8;  ///< of partial sums
constexpr std::uint64_t window_side = 8;

/// Scaled errors of a block; `counts` is 1, or 0 with an error of 0.
struct Errors {
  std::array<double, block_points> error{};
  std::array<double, block_points> counts{};
};

PairSums pair_sums(const Errors& a, const Errors& b, std::uint64_t count) {
  std::array<std::array<double, lanes>, 6> sums{};
  for (std::uint64_t i = 0; i < ceil_div(count, lanes) * lanes; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) {
      const double x = a.error[i + k] * b.counts[i + k];
      const double y = b.error[i + k] * a.counts[i + k];
      sums[0][k] += a.counts[i + k] * b.counts[i + k];
      sums[1][k] += x;
      sums[2][k] += y;
      sums[3][k] += x * x;
      sums[4][k] += y * y;
      sums[5][k] += x * y;
    }
  }
  std::array<double, 6> total{};
  for (std::size_t of = 0; of < sums.size(); ++of) {
    for (const double lane : sums[of]) total[of] += lane;
  }
  return {total[0], total[1], total[2], total[3], total[4], total[5]};
}

struct WindowSums {
  double x = 0;
  double y = 0;
  double xx = 0;
  double yy = 0;
  double xy = 0;

  /// Structural similarity for a dynamic range of 1.
  double similarity() const {
    constexpr double count = window_side * window_side;
    constexpr double c1 = 0.01 * 0.01;
    constexpr double c2 = 0.03 * 0.03;
    const double x_mean = x / count;
    const double y_mean = y / count;
    const double x_variance = xx / count - x_mean * x_mean;
    const double y_variance = yy / count - y_mean * y_mean;
    const double covariance = xy / count - x_mean * y_mean;
    return (2 * x_mean * y_mean + c1) * (2 * covariance + c2) /
           ((x_mean * x_mean + y_mean * y_mean + c1) * (x_variance + y_variance + c2));
  }
};

template <class T>
class Measurer {
 public:
  Measurer(const Dims& dims, Bytes original, Bytes restored, const FillValues& fills, int exponent)
      : dims_(dims),
        original_(reinterpret_cast<const T*>(original.data())),
        restored_(reinterpret_cast<const T*>(restored.data())),
        missing_(fills),
        exponent_(exponent) {}

  Fidelity measure() const {
    Fidelity whole = in_parts(ceil_div(dims_.count(), block_points),
                              [&](std::uint64_t block) { return pairs_of(block); });
    const Dims squeezed = dims_.squeezed();
    if (squeezed.rank() < 2) return whole;
    const std::uint64_t width = squeezed[squeezed.rank() - 1];
    const std::uint64_t height = squeezed[squeezed.rank() - 2];
    whole.merge(in_parts(dims_.count() / (width * height), [&](std::uint64_t plane) {
      return windows_of(plane * width * height, width, height);
    }));
    return whole;
  }

 private:
  template <class Part>
  Fidelity in_parts(std::uint64_t count, const Part& part) const {
    std::vector<Fidelity> parts(count);
    parallel_for(count, [&](std::uint64_t i) {
      parts[i] = part(i);
      parts[i].exponent = exponent_;
    });
    Fidelity whole;
    for (const Fidelity& one : parts) whole.merge(one);
    return whole;
  }

  bool counts(std::uint64_t point) const {
    return !missing_(original_[point]) && restored_[point] - restored_[point] == 0;
  }

  /// Points before the field or after the block do not count.
  void read_errors(std::uint64_t first, std::uint64_t count, std::uint64_t back,
                   Errors& errors) const {
    errors.counts.fill(0);
    errors.error.fill(0);
    const double scale = std::ldexp(1.0, -exponent_);
    for (std::uint64_t i = first < back ? back - first : 0; i < count; ++i) {
      const std::uint64_t point = first + i - back;
      if (!counts(point)) continue;
      errors.error[i] =
          scale * (static_cast<double>(restored_[point]) - static_cast<double>(original_[point]));
      errors.counts[i] = 1;
    }
  }

  Fidelity pairs_of(std::uint64_t block) const {
    const std::uint64_t first = block * block_points;
    const std::uint64_t end = std::min(first + block_points, dims_.count());
    Errors here;
    Errors before;
    read_errors(first, end - first, 0, here);
    Fidelity part;
    std::uint64_t stride = 1;
    for (int axis = dims_.rank() - 1; axis >= 0; --axis) {
      const std::uint64_t cycle = stride * dims_[axis];
      if (dims_[axis] != 1) {
        read_errors(first, end - first, stride, before);
        // The first points along an axis have no neighbour before them.
        for (std::uint64_t p = first / cycle * cycle; p < end; p += cycle) {
          for (std::uint64_t i = std::max(p, first); i < std::min(p + stride, end); ++i) {
            before.error[i - first] = before.counts[i - first] = 0;
          }
        }
        part.neighbours[static_cast<std::size_t>(axis)] = pair_sums(before, here, end - first);
      }
      stride = cycle;
    }
    return part;
  }

  /// SSIM over complete windows of the plane at `first`.
  Fidelity windows_of(std::uint64_t first, std::uint64_t width, std::uint64_t height) const {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (std::uint64_t p = first; p < first + width * height; ++p) {
      if (!counts(p)) continue;
      low = std::min(low, static_cast<double>(original_[p]) / 2);
      high = std::max(high, static_cast<double>(original_[p]) / 2);
    }
    Fidelity part;
    if (!(high > low)) return part;
    for (std::uint64_t y = 0; y + window_side <= height; y += window_side) {
      for (std::uint64_t x = 0; x + window_side <= width; x += window_side) {
        const auto similarity = window(first + y * width + x, width, low, high - low);
        if (!similarity) continue;
        part.ssim_sum += *similarity;
        ++part.ssim_windows;
      }
    }
    return part;
  }

  /// Halved values, which cannot overflow, are scaled from [low, low + range] to [0, 1]. nullopt if
  /// a point of the window does not count.
  std::optional<double> window(std::uint64_t first, std::uint64_t width, double low,
                               double range) const {
    WindowSums sums;
    for (std::uint64_t y = 0; y < window_side; ++y) {
      for (std::uint64_t p = first + y * width; p < first + y * width + window_side; ++p) {
        if (!counts(p)) return std::nullopt;
        const double was = (static_cast<double>(original_[p]) / 2 - low) / range;
        const double now = (static_cast<double>(restored_[p]) / 2 - low) / range;
        sums.x += was;
        sums.y += now;
        sums.xx += was * was;
        sums.yy += now * now;
        sums.xy += was * now;
      }
    }
    return sums.similarity();
  }

  Dims dims_;
  const T* original_;
  const T* restored_;
  MissingTest<T> missing_;
  int exponent_;  ///< of errors
};

}  // namespace

Fidelity measure_fidelity(DType dtype, const Dims& dims, Bytes original, Bytes restored,
                          const FillValues& fills, double max_error) {
  const WorkValues was(dtype, original);
  const WorkValues now(dtype, restored);
  return with_type_of(work_of(dtype), [&](auto zero) {
    using T = decltype(zero);
    return Measurer<T>(dims, was.bytes(), now.bytes(), fills, square_exponent(max_error)).measure();
  });
}

}  // namespace cpu

}  // namespace cuszi

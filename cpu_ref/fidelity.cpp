#include "cpu_ref/fidelity.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "cpu_ref/parallel.hpp"

namespace cuszi::cpu {

namespace {

constexpr std::uint64_t segment_points = 4096;  ///< of a row
constexpr std::uint64_t segments_together = 16;
constexpr std::size_t lanes = 8;

/// Errors of neighbouring points and which of them count (1) or not (0, then the error is 0 too).
struct ErrorRow {
  std::array<double, segment_points> error{};
  std::array<double, segment_points> counts{};
};

/// A sum in fixed lanes, which a compiler can make side by side.
struct LaneSum {
  std::array<double, lanes> lane{};

  double total() const {
    double sum = 0;
    for (const double part : lane) sum += part;
    return sum;
  }
};

/// The sums over pairs of places in two rows of errors.
PairSums pair_sums(const double* x, const double* x_counts, const double* y, const double* y_counts,
                   std::size_t count) {
  LaneSum pairs, xs, ys, xx, yy, xy;
  const auto add = [&](std::size_t i, std::size_t k) {
    const double a = x[i] * y_counts[i];
    const double b = y[i] * x_counts[i];
    pairs.lane[k] += x_counts[i] * y_counts[i];
    xs.lane[k] += a;
    ys.lane[k] += b;
    xx.lane[k] += a * a;
    yy.lane[k] += b * b;
    xy.lane[k] += a * b;
  };
  const std::size_t whole = count / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) add(i + k, k);
  }
  for (std::size_t i = whole; i < count; ++i) add(i, i - whole);
  return {pairs.total(), xs.total(), ys.total(), xx.total(), yy.total(), xy.total()};
}

template <class T>
class Measurer {
 public:
  Measurer(const Dims& dims, std::span<const T> original, std::span<const T> restored,
           const FillValues& fills)
      : dims_(dims), original_(original), restored_(restored), missing_(fills) {
    width_ = dims[dims.rank() - 1];
    height_ = 1;
    // The planes of the two fastest axes that have more than one index.
    const Dims squeezed = dims.squeezed();
    if (squeezed.rank() > 1) {
      plane_width_ = squeezed[squeezed.rank() - 1];
      height_ = squeezed[squeezed.rank() - 2];
    }
  }

  Fidelity measure() {
    exponent_ = exponent_of_errors();
    const int power = 1 - exponent_;  // of halves of errors
    scale_ = std::ldexp(1.0, power / 2);
    rest_of_scale_ = std::ldexp(1.0, power - power / 2);
    Fidelity whole = in_parts(ceil_div(segments(), segments_together), [&](std::uint64_t i) {
      Fidelity part;
      const std::uint64_t end = std::min((i + 1) * segments_together, segments());
      for (std::uint64_t j = i * segments_together; j < end; ++j) add_segment(j, part);
      return part;
    });
    if (plane_width_ >= window_side && height_ >= window_side) {
      whole.merge(in_parts(original_.size() / (plane_width_ * height_),
                           [&](std::uint64_t plane) { return windows_of(plane); }));
    }
    return whole;
  }

 private:
  std::uint64_t segments_per_row() const { return ceil_div(width_, segment_points); }
  std::uint64_t segments() const { return original_.size() / width_ * segments_per_row(); }

  bool counts(std::uint64_t point) const {
    return !missing_(original_[point]) && std::isfinite(restored_[point]);
  }

  /// Half of it, so that it never overflows.
  double half_error_at(std::uint64_t point) const {
    return static_cast<double>(restored_[point]) / 2 - static_cast<double>(original_[point]) / 2;
  }

  template <class Part>
  Fidelity in_parts(std::uint64_t count, const Part& part) const {
    std::vector<Fidelity> parts(count);
    parallel_for(count, [&](std::uint64_t i) {
      parts[i] = part(i);
      parts[i].exponent = exponent_;
    });
    Fidelity whole;
    whole.exponent = exponent_;
    for (const Fidelity& one : parts) whole.merge(one);
    return whole;
  }

  /// So that neither squares of errors overflow nor those that matter vanish.
  int exponent_of_errors() const {
    constexpr std::uint64_t block = 1 << 16;
    std::vector<double> largest(ceil_div(original_.size(), block));
    parallel_for(largest.size(), [&](std::uint64_t i) {
      const std::uint64_t end = std::min<std::uint64_t>((i + 1) * block, original_.size());
      double most = 0;
      for (std::uint64_t p = i * block; p < end; ++p) {
        if (counts(p)) most = std::max(most, std::abs(half_error_at(p)));
      }
      largest[i] = most;
    });
    const double most = *std::max_element(largest.begin(), largest.end());
    return most == 0 ? 0 : std::ilogb(most) + 1;
  }

  void read_errors(std::uint64_t first, std::size_t count, ErrorRow& row) const {
    for (std::size_t i = 0; i < count; ++i) {
      const bool known = counts(first + i);
      row.counts[i] = known ? 1 : 0;
      row.error[i] = known ? half_error_at(first + i) * scale_ * rest_of_scale_ : 0;
    }
  }

  void add_segment(std::uint64_t segment, Fidelity& part) const {
    const std::uint64_t row = segment / segments_per_row();
    const std::uint64_t at = segment % segments_per_row() * segment_points;
    const std::size_t count = std::min(segment_points, width_ - at);
    const std::uint64_t first = row * width_ + at;
    ErrorRow here;
    ErrorRow there;
    read_errors(first, count, here);
    count_values(first, count, here, part);
    std::uint64_t stride = width_;
    std::uint64_t index = row;
    for (int axis = dims_.rank() - 2; axis >= 0; --axis) {
      if (index % dims_[axis] != 0) {
        read_errors(first - stride, count, there);
        part.neighbours[static_cast<std::size_t>(axis)].add(pair_sums(
            there.error.data(), there.counts.data(), here.error.data(), here.counts.data(), count));
      }
      index /= dims_[axis];
      stride *= dims_[axis];
    }
    const auto fastest = static_cast<std::size_t>(dims_.rank() - 1);
    part.neighbours[fastest].add(pair_sums(here.error.data(), here.counts.data(),
                                           here.error.data() + 1, here.counts.data() + 1,
                                           count - 1));
    if (at == 0) return;
    read_errors(first - 1, 1, there);
    part.neighbours[fastest].add(pair_sums(there.error.data(), there.counts.data(),
                                           here.error.data(), here.counts.data(), 1));
  }

  void count_values(std::uint64_t first, std::size_t count, const ErrorRow& row,
                    Fidelity& part) const {
    LaneSum sum;
    for (std::size_t i = 0; i < count; ++i) {
      const T was = original_[first + i];
      const T now = restored_[first + i];
      if (missing_(was)) {
        ++part.missing;
        part.missing_kept += std::bit_cast<BitsOf<T>>(was) == std::bit_cast<BitsOf<T>>(now) ? 1 : 0;
        continue;
      }
      if (row.counts[i] == 0) continue;
      ++part.points;
      sum.lane[i % lanes] += row.error[i];
      part.zeros += was == 0 ? 1 : 0;
      part.zeros_kept += was == 0 && now == 0 ? 1 : 0;
      part.negative += was < 0 ? 1 : 0;
      part.made_negative += was >= 0 && now < 0 ? 1 : 0;
    }
    part.error_sum += sum.total();
  }

  /// The windows of a plane that are whole and without missing points.
  Fidelity windows_of(std::uint64_t plane) const {
    Fidelity part;
    const std::uint64_t first = plane * plane_width_ * height_;
    double low = 0;
    double high = 0;
    bool any = false;
    for (std::uint64_t p = first; p < first + plane_width_ * height_; ++p) {
      if (!counts(p)) continue;
      const auto value = static_cast<double>(original_[p]) / 2;
      low = any ? std::min(low, value) : value;
      high = any ? std::max(high, value) : value;
      any = true;
    }
    if (!(high > low)) return part;
    for (std::uint64_t y = 0; y + window_side <= height_; y += window_side) {
      for (std::uint64_t x = 0; x + window_side <= plane_width_; x += window_side) {
        add_window(first + y * plane_width_ + x, low, high - low, part);
      }
    }
    return part;
  }

  void add_window(std::uint64_t first, double low, double range, Fidelity& part) const {
    WindowSums sums;
    for (std::uint64_t y = 0; y < window_side; ++y) {
      for (std::uint64_t x = 0; x < window_side; ++x) {
        const std::uint64_t point = first + y * plane_width_ + x;
        if (!counts(point)) return;
        const double was = (static_cast<double>(original_[point]) / 2 - low) / range;
        const double now = (static_cast<double>(restored_[point]) / 2 - low) / range;
        sums.x += was;
        sums.y += now;
        sums.xx += was * was;
        sums.yy += now * now;
        sums.xy += was * now;
      }
    }
    part.ssim_sum += ssim_of(sums);
    ++part.ssim_windows;
  }

  Dims dims_;
  std::span<const T> original_;
  std::span<const T> restored_;
  MissingTest<T> missing_;
  std::uint64_t width_;
  std::uint64_t plane_width_ = 0;
  std::uint64_t height_;
  int exponent_ = 0;
  double scale_ = 1;  ///< times the rest 2^(1 - exponent), which may be too much for one double
  double rest_of_scale_ = 1;
};

}  // namespace

Fidelity measure_fidelity(DType dtype, const Dims& dims, Bytes original, Bytes restored,
                          const FillValues& fills) {
  return with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto values = [](Bytes bytes) {
      return std::span(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
    };
    return Measurer<T>(dims, values(original), values(restored), fills).measure();
  });
}

}  // namespace cuszi::cpu

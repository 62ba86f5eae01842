#pragma once

#include "core/field/fidelity.hpp"
#include "core/field/mask.hpp"

namespace cuszi {

// Sums have a backend-independent order: point or pair i of a row's segment goes to partial sum i
// mod fidelity_lanes; partial sums, a part's fidelity_part_segments segments, and parts are added
// sequentially, windows of a plane in raster order.
inline constexpr std::uint64_t fidelity_segment_points = 4096;
inline constexpr std::uint64_t fidelity_part_segments = 16;
inline constexpr std::size_t fidelity_lanes = 8;
inline constexpr std::uint64_t window_side = 8;

struct FidelityCuts {
  explicit FidelityCuts(const Dims& dims);

  int rank = 0;
  std::array<std::uint64_t, Dims::max_rank> extents{};
  std::uint64_t points = 0;
  std::uint64_t width = 0;  ///< of a row
  std::uint64_t segments_per_row = 0;
  std::uint64_t segments = 0;
  // Planes of the two fastest squeezed axes; 0 if none holds a window.
  std::uint64_t plane_width = 0;
  std::uint64_t plane_height = 0;
  std::uint64_t planes = 0;

  CUSZI_HD std::uint64_t plane_points() const { return plane_width * plane_height; }
  CUSZI_HD std::uint64_t windows_per_row() const { return plane_width / window_side; }
  CUSZI_HD std::uint64_t windows_per_plane() const {
    return windows_per_row() * (plane_height / window_side);
  }
  CUSZI_HD std::uint64_t first_of_window(std::uint64_t plane, std::uint64_t window) const {
    const std::uint64_t y = window / windows_per_row() * window_side;
    const std::uint64_t x = window % windows_per_row() * window_side;
    return plane * plane_points() + y * plane_width + x;
  }
};

struct FidelitySegment {
  std::uint64_t row;
  std::uint64_t at;  ///< in the row
  std::uint64_t first;
  std::uint64_t count;

  CUSZI_HD FidelitySegment(const FidelityCuts& cuts, std::uint64_t number)
      : row(number / cuts.segments_per_row),
        at(number % cuts.segments_per_row * fidelity_segment_points),
        first(row * cuts.width + at),
        count(cuts.width - at < fidelity_segment_points ? cuts.width - at
                                                        : fidelity_segment_points) {}
};

/// Scales a plane's values to [0, 1].
struct PlaneRange {
  double low = 0;  ///< of halves of original values
  double width = 0;

  CUSZI_HD double share(double value) const { return (value / 2 - low) / width; }
};

struct WindowSums {
  double x = 0;
  double y = 0;
  double xx = 0;
  double yy = 0;
  double xy = 0;

  CUSZI_HD void add(double was, double now) {
    x += was;
    y += now;
    xx += was * was;
    yy += now * now;
    xy += was * now;
  }

  /// Structural similarity for a dynamic range of 1.
  CUSZI_HD double similarity() const {
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

/// Binary exponent to scale errors by: neither squares overflow nor relevant ones underflow.
int fidelity_exponent(double largest_half_error);

template <class T>
struct ComparedValues {
  const T* original;
  const T* restored;
  MissingTest<T> missing;
  double scale = 1;  ///< scale x rest_of_scale = 2^(1 - exponent), which one double may not hold
  double rest_of_scale = 1;

  void set_exponent(int exponent);

  CUSZI_HD bool counts(std::uint64_t point) const {
    const T now = restored[point];
    return !missing(original[point]) && now - now == 0;
  }

  /// Halved: cannot overflow.
  CUSZI_HD double half_error(std::uint64_t point) const {
    return static_cast<double>(restored[point]) / 2 - static_cast<double>(original[point]) / 2;
  }

  CUSZI_HD CountedError error(std::uint64_t point) const {
    if (!counts(point)) return {};
    return {half_error(point) * scale * rest_of_scale, 1};
  }

  /// Returns false if a point of the window does not count.
  CUSZI_HD bool window(std::uint64_t first, std::uint64_t plane_width, const PlaneRange& range,
                       double& similarity) const {
    WindowSums sums;
    for (std::uint64_t y = 0; y < window_side; ++y) {
      for (std::uint64_t x = 0; x < window_side; ++x) {
        const std::uint64_t point = first + y * plane_width + x;
        if (!counts(point)) return false;
        sums.add(range.share(static_cast<double>(original[point])),
                 range.share(static_cast<double>(restored[point])));
      }
    }
    similarity = sums.similarity();
    return true;
  }
};

}  // namespace cuszi

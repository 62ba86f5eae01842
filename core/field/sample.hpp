#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/base/dims.hpp"
#include "core/base/hd.hpp"

namespace cuszi {

/// Points that the encoder looks at to choose a radius or a background value. Their positions are
/// hashed, so that they cannot alias with rows.
inline constexpr std::uint64_t sample_points = 8192;

/// 64 bits that look random, for the k-th point of a sample.
CUSZI_HD inline std::uint64_t sample_hash(std::uint64_t k) {
  std::uint64_t h = (k + 1) * 0x9E3779B97F4A7C15U;  // splitmix64
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9U;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBU;
  return h ^ (h >> 31);
}

/// The k-th sampled point of a frame of `points` points: a hashed one, which may repeat.
CUSZI_HD inline std::uint64_t sample_point(std::uint64_t k, std::uint64_t points) {
  return sample_hash(k) % points;
}

/// The number of sampled points of a frame of `points` points. A frame of at most sample_points
/// points is sampled whole, each point once.
CUSZI_HD inline std::uint64_t sample_size(std::uint64_t points) {
  return points < sample_points ? points : sample_points;
}
CUSZI_HD inline std::uint64_t magnitude_sample(std::uint64_t k, std::uint64_t points) {
  return points <= sample_points ? k : sample_point(k, points);
}

/// The least and the largest magnitude at magnitude_sample() points, of the values that are neither
/// missing nor 0; both 0 if there are none.
struct MagnitudeRange {
  double least = 0;
  double largest = 0;

  bool any() const { return largest != 0; }
  /// Takes in the magnitude of a value that is neither missing nor 0.
  void include(double magnitude) {
    if (!any() || magnitude < least) least = magnitude;
    if (magnitude > largest) largest = magnitude;
  }

  friend bool operator==(const MagnitudeRange&, const MagnitudeRange&) = default;
};

CUSZI_HD inline Extents3 coordinates_of(std::uint64_t point, const Extents3& extents) {
  const std::uint64_t row = point / extents[2];
  return {row / extents[1], row % extents[1], point % extents[2]};
}

CUSZI_HD inline std::uint64_t point_at(const Extents3& at, const Extents3& extents) {
  return (at[0] * extents[1] + at[1]) * extents[2] + at[2];
}

/// How many sampled prediction errors fall into each power of two. Bound-independent, so that a
/// field is sampled once, before its range and with it the bound is known.
class ErrorOctaves {
 public:
  static constexpr int octaves = 2048;  ///< the exponents of a double

  CUSZI_HD static int octave_of(double error) {
    return static_cast<int>((std::bit_cast<std::uint64_t>(error) >> 52) & 0x7FF);
  }

  void add(double error) { ++counts_[static_cast<std::size_t>(octave_of(error))]; }

  /// How many errors may be `limit` or more.
  std::uint32_t beyond(double limit) const {
    std::uint32_t count = 0;
    for (int i = octave_of(limit); i < octaves; ++i) count += counts_[static_cast<std::size_t>(i)];
    return count;
  }

  std::array<std::uint32_t, octaves>& counts() { return counts_; }

 private:
  std::array<std::uint32_t, octaves> counts_{};
};

/// Sums of the absolute errors of both cubics along each axis, over a fixed sample of the original
/// (cuSZ-i V-C.1). An axis too short for a cubic has been skipped.
struct SplineErrors {
  std::array<std::array<double, 2>, 3> sum{};  ///< [axis][Cubic]
  std::array<bool, 3> profiled{};
};

/// What one look at a frame tells before any choice is made.
struct FieldScan {
  double min = 0;  ///< over the points that are not missing; 0, 0 if there are none
  double max = 0;
  std::uint64_t missing = 0;
  double sampled = 0;  ///< largest magnitude in a sample, of the points that are not missing
  ErrorOctaves errors;
  SplineErrors splines;
};

}  // namespace cuszi

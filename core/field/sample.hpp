#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/base/dims.hpp"
#include "core/base/hd.hpp"

namespace cuszi {

/// For choosing a radius or a background value. Positions are hashed, so that they do not alias
/// with rows.
inline constexpr std::uint64_t sample_points = 8192;

CUSZI_HD inline std::uint64_t sample_hash(std::uint64_t k) {
  std::uint64_t h = (k + 1) * 0x9E3779B97F4A7C15U;  // splitmix64
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9U;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBU;
  return h ^ (h >> 31);
}

/// May repeat.
CUSZI_HD inline std::uint64_t sample_point(std::uint64_t k, std::uint64_t points) {
  return sample_hash(k) % points;
}

/// Small frames are sampled completely, each point once.
CUSZI_HD inline std::uint64_t sample_size(std::uint64_t points) {
  return points < sample_points ? points : sample_points;
}
CUSZI_HD inline std::uint64_t magnitude_sample(std::uint64_t k, std::uint64_t points) {
  return points <= sample_points ? k : sample_point(k, points);
}

/// Over sampled valid nonzero values; both 0 if there are none.
struct MagnitudeRange {
  double least = 0;
  double largest = 0;

  bool any() const { return largest != 0; }
  /// `magnitude` must be of a valid nonzero value.
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

/// Sampled prediction errors by exponent: independent of the bound, which may need the range first.
class ErrorOctaves {
 public:
  static constexpr int octaves = 2048;  ///< exponents of a double

  CUSZI_HD static int octave_of(double error) {
    return static_cast<int>((std::bit_cast<std::uint64_t>(error) >> 52) & 0x7FF);
  }

  void add(double error) { ++counts_[static_cast<std::size_t>(octave_of(error))]; }

  /// Upper estimate of the number of errors of at least `limit`.
  std::uint32_t beyond(double limit) const {
    std::uint32_t count = 0;
    for (int i = octave_of(limit); i < octaves; ++i) count += counts_[static_cast<std::size_t>(i)];
    return count;
  }

  std::array<std::uint32_t, octaves>& counts() { return counts_; }

 private:
  std::array<std::uint32_t, octaves> counts_{};
};

/// Sums of both cubics' absolute errors per axis over a fixed sample (cuSZ-i V-C.1). Axes too short
/// for a cubic are skipped.
struct SplineErrors {
  std::array<std::array<double, 2>, 3> sum{};  ///< [axis][Cubic]
  std::array<bool, 3> profiled{};
};

struct FieldScan {
  double min = 0;  ///< of valid points; 0 if there are none
  double max = 0;
  std::uint64_t missing = 0;
  double sampled = 0;  ///< largest magnitude of sampled valid points
  ErrorOctaves errors;
  SplineErrors splines;
};

/// magnitude_sample() for any k without a division, which dominates on GPUs.
class MagnitudeSample {
 public:
  CUSZI_HD explicit MagnitudeSample(std::uint64_t points)
      : points_(points), inverse_(~std::uint64_t{0} / points) {}

  CUSZI_HD std::uint64_t operator[](std::uint64_t k) const {
    if (points_ <= sample_points) return k;
    const std::uint64_t hash = sample_hash(k);
    // The rounded-down inverse can make the quotient 1 too small.
    const std::uint64_t rest = hash - high_word(hash, inverse_) * points_;
    return rest < points_ ? rest : rest - points_;
  }

 private:
  CUSZI_HD static std::uint64_t high_word(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
    return __umul64hi(a, b);
#else
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#endif
  }

  std::uint64_t points_;
  std::uint64_t inverse_;
};

}  // namespace cuszi

#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/hd.hpp"

namespace cuszi {

/// Sums over pairs of errors, x and y, at neighbouring points.
struct PairSums {
  double pairs = 0;
  double x = 0;
  double y = 0;
  double xx = 0;
  double yy = 0;
  double xy = 0;

  CUSZI_HD void add(const PairSums& other) {
    pairs += other.pairs;
    x += other.x;
    y += other.y;
    xx += other.xx;
    yy += other.yy;
    xy += other.xy;
  }
  /// The correlation of the two; nothing where one of them does not vary.
  std::optional<double> correlation() const;
};

/// An error, and whether it counts (1) or not (0, then the error is 0 too).
struct CountedError {
  double error = 0;
  double counts = 0;
};

/// One pair, if both count.
CUSZI_HD inline PairSums pair_of(const CountedError& first, const CountedError& second) {
  const double x = first.error * second.counts;
  const double y = second.error * first.counts;
  return {first.counts * second.counts, x, y, x * x, y * y, x * y};
}

/// How many points are what.
struct FidelityCounts {
  std::uint64_t points = 0;
  std::uint64_t missing = 0;       ///< in the original
  std::uint64_t missing_kept = 0;  ///< of these, those that came back bit for bit
  std::uint64_t zeros = 0;         ///< exact zeros in the original, of either sign
  std::uint64_t zeros_kept = 0;
  std::uint64_t negative = 0;       ///< in the original
  std::uint64_t made_negative = 0;  ///< restored below zero where the original is not

  /// One more point, which was missing, counts, or neither.
  template <class T>
  CUSZI_HD void add(T was, T now, bool is_missing, bool counts) {
    if (is_missing) {
      ++missing;
      missing_kept +=
          __builtin_bit_cast(BitsOf<T>, was) == __builtin_bit_cast(BitsOf<T>, now) ? 1 : 0;
    }
    if (is_missing || !counts) return;
    ++points;
    zeros += was == 0 ? 1 : 0;
    zeros_kept += was == 0 && now == 0 ? 1 : 0;
    negative += was < 0 ? 1 : 0;
    made_negative += was >= 0 && now < 0 ? 1 : 0;
  }

  CUSZI_HD void add(const FidelityCounts& other) {
    points += other.points;
    missing += other.missing;
    missing_kept += other.missing_kept;
    zeros += other.zeros;
    zeros_kept += other.zeros_kept;
    negative += other.negative;
    made_negative += other.made_negative;
  }
};

/// What scientists ask of a restored field beside the size of its errors. Points that are missing
/// in the original, and restored ones that are not finite, enter nothing but `missing`. Parts of a
/// field are measured apart and merged in order; pairs and windows do not reach across parts.
struct Fidelity : FidelityCounts {
  double error_sum = 0;  ///< of restored - original, in units of 2^exponent
  std::array<PairSums, Dims::max_rank> neighbours;  ///< along each of the dims; the same units
  int exponent = 0;
  double ssim_sum = 0;  ///< over windows of 8 x 8 points in the planes of the two fastest axes
  std::uint64_t ssim_windows = 0;

  void merge(const Fidelity& next);

  /// The mean of restored - original.
  double mean_error() const;
  /// The correlation of errors at neighbours along an axis (lag 1): 0 for white noise.
  std::optional<double> autocorrelation(int axis) const {
    return neighbours.at(static_cast<std::size_t>(axis)).correlation();
  }
  /// The mean structural similarity (Wang et al. 2004), with the value range of each plane; nothing
  /// for lines and where no window is without missing points.
  std::optional<double> ssim() const;
  /// How many values are below zero in a field that has none.
  std::uint64_t false_negatives() const { return negative == 0 ? made_negative : 0; }

 private:
  void rescale(int to);
};

}  // namespace cuszi

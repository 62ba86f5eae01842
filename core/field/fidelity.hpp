#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/hd.hpp"

namespace cuszi {

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
  /// nullopt if one variable is constant.
  std::optional<double> correlation() const;
};

/// `counts` is 1, or 0 with an error of 0.
struct CountedError {
  double error = 0;
  double counts = 0;
};

CUSZI_HD inline PairSums pair_of(const CountedError& first, const CountedError& second) {
  const double x = first.error * second.counts;
  const double y = second.error * first.counts;
  return {first.counts * second.counts, x, y, x * x, y * y, x * y};
}

struct FidelityCounts {
  std::uint64_t points = 0;
  std::uint64_t missing = 0;       ///< in the original
  std::uint64_t missing_kept = 0;  ///< restored bit for bit
  std::uint64_t zeros = 0;         ///< in the original, of either sign
  std::uint64_t zeros_kept = 0;
  std::uint64_t negative = 0;       ///< in the original
  std::uint64_t made_negative = 0;  ///< restored below zero, original not

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

/// Missing points and restored values that are not finite are excluded. Parts of a field are
/// measured separately and merged in order; pairs and windows do not cross parts.
struct Fidelity : FidelityCounts {
  double error_sum = 0;  ///< of restored - original, in units of 2^exponent
  std::array<PairSums, Dims::max_rank> neighbours;  ///< by axis, in the same units
  int exponent = 0;
  double ssim_sum = 0;  ///< over 8 x 8 windows in planes of the two fastest axes
  std::uint64_t ssim_windows = 0;

  void merge(const Fidelity& next);

  double mean_error() const;
  /// Lag-1 autocorrelation of errors along an axis.
  std::optional<double> autocorrelation(int axis) const {
    return neighbours.at(static_cast<std::size_t>(axis)).correlation();
  }
  /// Mean structural similarity (Wang et al. 2004), by each plane's value range; nullopt in 1-D and
  /// if all windows have missing points.
  std::optional<double> ssim() const;
  /// Values restored below zero in a non-negative field.
  std::uint64_t false_negatives() const { return negative == 0 ? made_negative : 0; }

 private:
  void rescale(int to);
};

}  // namespace cuszi

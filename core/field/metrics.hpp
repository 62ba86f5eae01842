#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/field/bound.hpp"
#include "core/field/restore_rules.hpp"

namespace cuszi {

/// The order of a sum that decides archives is fixed: LaneSums within a block of points, then
/// block by block.
inline constexpr std::uint64_t quality_block_points = std::uint64_t{1} << 16;

/// Sums of errors (restored - original) in units of 2^exponent, and of their squares.
struct ErrorSums {
  double errors = 0;
  double squares = 0;
  int exponent = 0;

  void add(const ErrorSums& other);
};

struct ValueCounts {
  std::uint64_t missing_kept = 0;  ///< restored bit for bit
  std::uint64_t zeros = 0;         ///< in the original, of either sign
  std::uint64_t zeros_kept = 0;
  std::uint64_t negative = 0;       ///< in the original
  std::uint64_t made_negative = 0;  ///< restored below zero, original not

  CUSZI_HD void add(const ValueCounts& other) {
    missing_kept += other.missing_kept;
    zeros += other.zeros;
    zeros_kept += other.zeros_kept;
    negative += other.negative;
    made_negative += other.made_negative;
  }
};

/// What is counted and measured at points.
struct PointCounts {
  std::uint64_t points = 0;   ///< valid
  std::uint64_t missing = 0;  ///< NaN, infinity or fill value in the original
  /// Points that are missing in one field only, or by different values.
  std::uint64_t missing_differ = 0;
  std::uint64_t crossings = 0;  ///< points on another side of an isovalue than the original
  double max_error = 0;
  double max_share = 0;     ///< largest error relative to its value; infinite if that is 0
  double max_of_bound = 0;  ///< largest error relative to its point's bound
  ValueCounts counts;
};

/// 0 if squares up to `largest`^2 neither overflow nor underflow.
int square_exponent(double largest);

/// Errors at valid points. Parts of a field are measured separately and merged in order.
struct Quality : PointCounts {
  double min = 0;  ///< of the original
  double max = 0;
  ErrorSums error_sums;
  std::optional<std::uint64_t> first_differ;
  std::optional<std::uint64_t> first_crossing;
  /// First point over the bound, or missing but not bit-identical.
  std::optional<std::uint64_t> first_bad;

  /// Appends the next part of the field, whose points count from 0.
  void merge(const Quality& next);

  double range() const { return max - min; }
  double mean_error() const;
  double rmse() const;
  /// RMSE over the value range; 0 without error.
  double nrmse() const;
  /// In dB over the value range; nullopt without error or range.
  std::optional<double> psnr() const;
  /// Values restored below zero in a non-negative field.
  std::uint64_t false_negatives() const { return counts.negative == 0 ? counts.made_negative : 0; }
};

template <class T>
struct PointComparison {
  MissingTest<T> missing;
  IsoValues isovalues;
  ValueBound bound;
  double scale = 1;  ///< 2^-exponent, applied before squaring
};

/// Counts max_of_bound of pointwise bounds only.
struct SeenPoints : PointCounts {
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  std::uint64_t first_differ = never;
  std::uint64_t first_crossing = never;
  std::uint64_t first_bad = never;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();

  /// Returns the scaled error; 0 for missing points.
  template <class T>
  CUSZI_HD double add(std::uint64_t point, T original, T restored,
                      const PointComparison<T>& comparison);

  /// `sums` are those of the results of add().
  Quality quality(const ErrorSums& sums) const;
};

template <class T>
CUSZI_HD double SeenPoints::add(std::uint64_t point, T original, T restored,
                                const PointComparison<T>& comparison) {
  bool good = false;
  bool differs = false;
  bool crosses = false;
  double scaled = 0;
  if (comparison.missing(original)) {
    ++missing;
    good = std::bit_cast<BitsOf<T>>(original) == std::bit_cast<BitsOf<T>>(restored);
    counts.missing_kept += good ? 1 : 0;
    const bool alike = original == restored || (original != original && restored != restored);
    differs = !good && !alike;
  } else {
    ++points;
    const auto value = static_cast<double>(original);
    min = value < min ? value : min;
    max = value > max ? value : max;
    counts.zeros += original == 0 ? 1 : 0;
    counts.negative += original < 0 ? 1 : 0;
    differs = comparison.missing(restored);
    if (!differs) {
      counts.zeros_kept += original == 0 && restored == 0 ? 1 : 0;
      counts.made_negative += original >= 0 && restored < 0 ? 1 : 0;
      const double difference = static_cast<double>(restored) - value;
      const double error = magnitude_of(difference);
      max_error = error > max_error ? error : max_error;
      const double share = error == 0 ? 0 : error / magnitude_of(value);
      max_share = share > max_share ? share : max_share;
      if (error != 0 && comparison.bound.goes_with_values()) {
        const double part = comparison.bound.part_of(error, magnitude_of(value));
        max_of_bound = part > max_of_bound ? part : max_of_bound;
      }
      scaled = difference * comparison.scale;
      good = comparison.bound.holds(value, static_cast<double>(restored));
      crosses = !on_same_sides(comparison.isovalues, original, restored);
    }
  }
  if (!good && first_bad == never) first_bad = point;
  if (differs) {
    ++missing_differ;
    if (first_differ == never) first_differ = point;
  }
  if (crosses) {
    ++crossings;
    if (first_crossing == never) first_crossing = point;
  }
  return scaled;
}

}  // namespace cuszi

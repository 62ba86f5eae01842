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

/// A sum of squares of numbers in units of 2^exponent.
struct SquareSum {
  double sum = 0;
  int exponent = 0;

  void add(const SquareSum& other);
};

/// 0 if squares up to `largest`^2 neither overflow nor underflow.
int square_exponent(double largest);

/// Errors at valid points. Parts of a field are measured separately and merged in order.
struct Quality {
  std::uint64_t points = 0;   ///< valid
  std::uint64_t missing = 0;  ///< NaN, infinity or fill value in the original
  double min = 0;             ///< of the original
  double max = 0;
  double max_error = 0;
  double max_share = 0;  ///< largest error relative to its value; infinite if that is 0
  /// Largest error relative to its point's bound.
  double max_of_bound = 0;
  SquareSum squared_error;
  /// Points that are missing in one field only, or by different values.
  std::uint64_t missing_differ = 0;
  std::optional<std::uint64_t> first_differ;
  std::uint64_t crossings = 0;  ///< points on another side of an isovalue than the original
  std::optional<std::uint64_t> first_crossing;
  /// First point over the bound, or missing but not bit-identical.
  std::optional<std::uint64_t> first_bad;

  bool is_kept() const { return !first_bad && !first_crossing; }

  /// Appends the next part of the field, whose points count from 0.
  void merge(const Quality& next);

  double range() const { return max - min; }
  double rmse() const;
  /// RMSE over the value range; 0 without error.
  double nrmse() const;
  /// In dB over the value range; nullopt without error or range.
  std::optional<double> psnr() const;
};

template <class T>
struct PointComparison {
  MissingTest<T> missing;
  IsoValues isovalues;
  ValueBound bound;
  double scale = 1;  ///< 2^-exponent, applied before squaring
};

struct SeenPoints {
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  std::uint64_t points = 0;
  std::uint64_t missing = 0;
  std::uint64_t missing_differ = 0;
  std::uint64_t first_differ = never;
  std::uint64_t crossings = 0;
  std::uint64_t first_crossing = never;
  std::uint64_t first_bad = never;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double max_error = 0;
  double max_share = 0;
  double max_of_bound = 0;  ///< of pointwise bounds

  /// Returns the square of the scaled error; 0 for missing points.
  template <class T>
  CUSZI_HD double add(std::uint64_t point, T original, T restored,
                      const PointComparison<T>& comparison);

  /// `squares`: sum of the results of add(), in units of 2^exponent.
  Quality quality(const SquareSum& squares) const;
};

template <class T>
CUSZI_HD double SeenPoints::add(std::uint64_t point, T original, T restored,
                                const PointComparison<T>& comparison) {
  bool good = false;
  bool differs = false;
  bool crosses = false;
  double square = 0;
  if (comparison.missing(original)) {
    ++missing;
    good = std::bit_cast<BitsOf<T>>(original) == std::bit_cast<BitsOf<T>>(restored);
    const bool alike = original == restored || (original != original && restored != restored);
    differs = !good && !alike;
  } else {
    ++points;
    const auto value = static_cast<double>(original);
    min = value < min ? value : min;
    max = value > max ? value : max;
    differs = comparison.missing(restored);
    if (!differs) {
      const double error = magnitude_of(value - static_cast<double>(restored));
      max_error = error > max_error ? error : max_error;
      const double share = error == 0 ? 0 : error / magnitude_of(value);
      max_share = share > max_share ? share : max_share;
      if (error != 0 && comparison.bound.goes_with_values()) {
        const double part = comparison.bound.part_of(error, magnitude_of(value));
        max_of_bound = part > max_of_bound ? part : max_of_bound;
      }
      square = (error * comparison.scale) * (error * comparison.scale);
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
  return square;
}

}  // namespace cuszi

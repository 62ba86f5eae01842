#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/field/restore_rules.hpp"
#include "core/field/value_bound.hpp"

namespace cuszi {

/// Number of points in a block of a sum of squared errors. The sum decides archives where a quality
/// is the target, so it has a fixed order: each block is summed by core/base/lane_sums, by the
/// numbers of its points in the block, and blocks are added up one after the other.
inline constexpr std::uint64_t quality_block_points = std::uint64_t{1} << 16;

/// A sum of squares whose terms may leave the range of doubles: of numbers in units of 2^exponent.
struct SquareSum {
  double sum = 0;
  int exponent = 0;

  void add(const SquareSum& other);
};

/// The exponent for squares of numbers up to `largest`: 0 wherever that does.
int square_exponent(double largest);

/// How far a restored field is from its original, over the points that are not missing. Parts of a
/// field are measured apart and merged in order.
struct Quality {
  std::uint64_t points = 0;   ///< not missing
  std::uint64_t missing = 0;  ///< NaN, infinity or fill value in the original
  double min = 0;             ///< of the original
  double max = 0;
  double max_error = 0;
  double max_share = 0;  ///< largest error as a share of its value; infinite where that is 0
  /// Largest error as a share of its point's bound, where points have their own.
  double max_of_bound = 0;
  SquareSum squared_error;
  /// Points that are missing in one of the fields alone, or not by the same value: they have no
  /// error.
  std::uint64_t missing_differ = 0;
  std::optional<std::uint64_t> first_differ;
  std::uint64_t crossings = 0;  ///< points on another side of an isovalue than in the original
  std::optional<std::uint64_t> first_crossing;
  /// The first point whose error is over the bound, or that is missing and not bit for bit the
  /// same.
  std::optional<std::uint64_t> first_bad;

  /// Whether all values keep the bound and their sides of isovalues.
  bool is_kept() const { return !first_bad && !first_crossing; }

  /// Appends the part of the field that follows; its points count from its own start.
  void merge(const Quality& next);

  double range() const { return max - min; }
  double rmse() const;
  /// Root mean square error over the value range; 0 without error.
  double nrmse() const;
  /// Peak signal-to-noise ratio on the value range in dB; nothing without error or without range.
  std::optional<double> psnr() const;
};

/// How the points of a block are compared.
template <class T>
struct PointComparison {
  MissingTest<T> missing;
  IsoValues isovalues;
  ValueBound bound;
  double scale = 1;  ///< 2^-exponent: what errors are multiplied by before they are squared
};

/// What points of a block have shown, each lane's in their order.
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
  double max_of_bound = 0;  ///< of bounds that go with values

  /// Adds the block's point of this number. Returns the square of its scaled error, 0 if it has
  /// none.
  template <class T>
  CUSZI_HD double add(std::uint64_t point, T original, T restored,
                      const PointComparison<T>& comparison);

  /// `squares`: the sum of what add() has returned, in units of 2^exponent.
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

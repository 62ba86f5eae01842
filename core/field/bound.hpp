#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "core/base/bit_width.hpp"
#include "core/base/hd.hpp"
#include "core/field/config.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi {

/// Error of a product (Veltkamp's split, Dekker's TwoProduct), without over- and underflow.
CUSZI_HD inline double product_error(double a, double b, double product) {
  constexpr double split = 134217729.0;  // 2^27 + 1
  const double a_high = a * split - (a * split - a);
  const double b_high = b * split - (b * split - b);
  const double a_low = a - a_high;
  const double b_low = b - b_high;
  return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
}

/// |original - restored| <= share x |original| in exact arithmetic, share < 1, and equal signs;
/// zeros must be bit-identical. Scaled to [2, 4), so that products and their errors stay in range.
CUSZI_HD inline bool within_share(double original, double restored, double share) {
  const auto bits = std::bit_cast<std::uint64_t>(original);
  if (bits == std::bit_cast<std::uint64_t>(restored)) return true;
  const bool same_sign = (original < 0) == (restored < 0);
  if (original == 0 || restored == 0 || !same_sign) return false;
  double was = magnitude_of(original);
  double now = magnitude_of(restored);
  if (!(now / 2 <= was)) return false;
  if (was < 0x1p-1022) {
    was *= 0x1p54;
    now *= 0x1p54;
  }
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(was) >> 52) - 1023;
  was *= power_of_two(1 - exponent);
  now *= power_of_two(1 - exponent);
  const double product = was * share;
  const double difference = magnitude_of(was - now);
  if (difference != product) return difference < product;
  const double larger = was < now ? now : was;
  const double smaller = was < now ? was : now;
  const double minus_smaller = difference - larger;
  const double rest = (larger - (difference - minus_smaller)) - (smaller + minus_smaller);
  return rest <= product_error(was, share, product);
}

/// Stands for no absolute bound: all finite values are within it.
inline constexpr double no_bound = std::numeric_limits<double>::max();

/// Limit of errors: absolute, relative to the value (share < 1), or the larger or smaller of both.
struct ValueBound {
  enum class Kind : std::uint8_t { absolute, share, either, both };

  Kind kind = Kind::absolute;
  double bound = 0;  ///< no_bound if only the share applies
  double share = 0;  ///< 0 if unused

  ValueBound(double absolute) : bound(absolute) {}
  ValueBound(Kind of, double absolute, double of_value)
      : kind(of), bound(absolute), share(of_value) {}
  static ValueBound of_share(double share) { return {Kind::share, no_bound, share}; }

  CUSZI_HD bool goes_with_values() const { return kind != Kind::absolute; }
  /// A bound for all values; no_bound if there is none.
  double absolute() const { return kind == Kind::either ? no_bound : bound; }

  CUSZI_HD bool holds(double original, double restored) const {
    const auto absolutely = [&] { return within_bound(original, restored, bound); };
    const auto relatively = [&] { return within_share(original, restored, share); };
    switch (kind) {
      case Kind::absolute: return absolutely();
      case Kind::share: return relatively();
      case Kind::either: return absolutely() || relatively();
      default: return absolutely() && relatively();
    }
  }

  /// The largest error of a value, rounded; `of_share` is the share of its magnitude.
  double limit(double of_share) const {
    switch (kind) {
      case Kind::absolute: return bound;
      case Kind::share: return of_share;
      case Kind::either: return bound > of_share ? bound : of_share;
      default: return bound < of_share ? bound : of_share;
    }
  }

  /// error / bound, rounded; `error` > 0, `magnitude` of the original.
  CUSZI_HD double part_of(double error, double magnitude) const {
    const double of_bound = error / bound;
    const double of_share = error / magnitude / share;
    switch (kind) {
      case Kind::absolute: return of_bound;
      case Kind::share: return of_share;
      case Kind::either: return of_bound < of_share ? of_bound : of_share;
      default: return of_bound < of_share ? of_share : of_bound;
    }
  }

  /// A simpler bound for values in [min, max], if one of the two dominates; never looser.
  ValueBound within(double min, double max) const;
};

/// Absolute bound share x (max - min), rounded down; 0 (lossless) if the range overflows, because
/// any error would be allowed.
double share_of_range(double share, double min, double max);

struct ValueRange {
  double min = 0;
  double max = 0;
  bool any = false;

  /// Infinite on overflow.
  double width() const { return max - min; }
  void add(double other_min, double other_max);
};

struct AskedBound {
  double bound = 0;  ///< in the sense of `mode`
  ErrorMode mode = ErrorMode::relative;
  double share = 0;  ///< of each value, for modes with two bounds
};

/// 0 (lossless) if it is relative and the range overflows.
ValueBound value_bound(const AskedBound& asked, const ValueRange& range);

}  // namespace cuszi

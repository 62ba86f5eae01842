#pragma once

#include <bit>
#include <cstdint>

#include "core/base/hd.hpp"
#include "core/base/powers.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi {

/// a x b = product + error, exactly (Veltkamp's split, Dekker's TwoProduct), for numbers far from
/// the ends of the doubles.
CUSZI_HD inline double product_error(double a, double b, double product) {
  constexpr double split = 134217729.0;  // 2^27 + 1
  const double a_high = a * split - (a * split - a);
  const double b_high = b * split - (b * split - b);
  const double a_low = a - a_high;
  const double b_low = b - b_high;
  return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
}

/// True if |original - restored| <= share x |original| in exact arithmetic, for a share below 1,
/// and both have the same sign; of zeros, if they are the same. Both are scaled so that the
/// original lies in [2, 4): then neither products nor their errors leave the range of doubles.
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

/// What the error of each value must not exceed.
struct ValueBound {
  double bound = 0;
  bool pointwise = false;  ///< `bound` is a share of the value, else absolute

  ValueBound(double most, bool is_share = false) : bound(most), pointwise(is_share) {}

  CUSZI_HD bool holds(double original, double restored) const {
    return pointwise ? within_share(original, restored, bound)
                     : within_bound(original, restored, bound);
  }
};

}  // namespace cuszi

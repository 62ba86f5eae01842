#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/dtype.hpp"
#include "core/base/hd.hpp"
#include "core/field/point_bits.hpp"
#include "core/field/value_bound.hpp"
#include "core/transform/log2.hpp"

namespace cuszi {

/// The transforms, in the order of TransformParams; the numbers stand in archives.
enum class TransformId : std::uint8_t { log = 0 };

/// The table of transforms, in the order of their ids: what predictors see instead of values. A new
/// transform is one more row here and its tests. A row has
///
///     id, name         as in archives
///     forward<T>(x)    of the magnitude of a finite value that is not 0
///     inverse<T>(y)    never decreases with y
///     certain<T>(x)    whether both keep to the errors that TransformChoice::rounding counts on,
///                      for magnitudes around x
///     write(), read()  what stands in a frame's header
///
/// Signs stand in a section of their own, and zeros are kept, as missing points are. forward() need
/// not be exact: what decides is whether all that inverse() makes of values around y lies within
/// the bound of x (PointTransform). y = log2 |x| - centre, for a bound that is a share of the
/// value.
struct LogTransform {
  static constexpr TransformId id = TransformId::log;
  static constexpr std::string_view name = "log";

  std::int16_t centre = 0;  ///< about the middle of the logarithms, so that y needs few bits

  template <class T>
  CUSZI_HD double forward(double x) const {
    return log2_of_value<T>(x) - centre;
  }
  template <class T>
  CUSZI_HD double inverse(double y) const {
    return exp2_of_value<T>(y + centre);
  }

  /// Where neither x nor what becomes of it under a share below 1/2 is subnormal or overflows.
  template <class T>
  CUSZI_HD static bool certain(double x) {
    constexpr double few = 4;
    return x > few * std::numeric_limits<T>::min() && x < std::numeric_limits<T>::max() / few;
  }

  void write(ByteWriter& out) const { out.put(centre); }
  static LogTransform read(ByteReader& in) { return {in.get<std::int16_t>()}; }

  friend bool operator==(const LogTransform&, const LogTransform&) = default;
};

using TransformParams = std::variant<LogTransform>;

std::string_view name_of(const TransformParams& params);
void write_transform(const TransformParams& params, ByteWriter& out);
/// Reads what write_transform() writes. Throws ArchiveError.
TransformParams read_transform(ByteReader& in);

/// How a frame's values become what its predictor codes.
struct TransformChoice {
  TransformParams params;
  double bound = 0;     ///< absolute, of what the predictor codes; 0 if that cannot be coded
  double rounding = 0;  ///< how far y may be from forward(x) for the bound of x to hold certainly
};

/// Chooses for a bound of `share` of each value, by a sample of the values that are not missing.
TransformChoice choose_transform(double share, DType dtype, const std::vector<double>& sample);

/// A value as predictors see it: NaN, as if it was missing, if its bits are to be kept.
template <class T>
struct Transformed {
  T value;
  bool is_negative;
};

/// x as a T, rounded and not beyond the largest ones.
template <class T>
CUSZI_HD inline T rounded_to(double x) {
  constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(clamp_to(x, -most, most));
}

/// Transforms values one by one. A value is kept bit for bit unless everything that may be
/// restored, whatever the predictor makes of it under its own bound, is within the bound of the
/// values and keeps the rules. That is decided by the two ends of what may be restored, as
/// inverse() never decreases; but for the values whose y is rounded too little for any doubt.
template <class T, class Params>
struct PointTransform {
  Params params;
  double step;      ///< the predictor's bound
  double rounding;  ///< of y that leaves no doubt, negative if there are rules
  double share;     ///< the bound of the values
  MissingTest<T> missing;
  RestoreRules<T> rules;

  PointTransform(const Params& p, const TransformChoice& choice, double most,
                 const FillValues& fills, const RestoreRules<T>& kept)
      : params(p),
        step(choice.bound),
        rounding(kept.any() ? -1 : choice.rounding),
        share(most),
        missing(fills),
        rules(kept) {}

  CUSZI_HD Transformed<T> operator()(T x) const {
    const Transformed<T> kept{std::numeric_limits<T>::quiet_NaN(), false};
    if (missing(x) || x == 0) return kept;
    const bool negative = x < 0;
    const T magnitude = negative ? -x : x;
    const double exact = params.template forward<T>(static_cast<double>(magnitude));
    const auto y = static_cast<T>(exact);
    const auto place = static_cast<double>(y);
    if (magnitude_of(place - exact) <= rounding &&
        Params::template certain<T>(static_cast<double>(magnitude))) {
      return {y, negative};
    }
    const T least = restored(place - step, negative);
    const T most = restored(place + step, negative);
    const bool good =
        y - y == 0 && may_become(x, least) && may_become(x, most) &&
        !rules.fills.any_between(least < most ? least : most, least < most ? most : least);
    return good ? Transformed<T>{y, negative} : kept;
  }

 private:
  CUSZI_HD T restored(double y, bool negative) const {
    const T magnitude = rounded_to<T>(params.template inverse<T>(y));
    return negative ? -magnitude : magnitude;
  }
  CUSZI_HD bool may_become(T x, T end) const {
    return within_share(static_cast<double>(x), static_cast<double>(end), share) &&
           rules.allow(x, end);
  }
};

/// What a frame's header says of its transform.
struct FrameTransform {
  TransformParams params;
  double min = 0;  ///< of what the predictor has coded
  double max = 0;
  std::uint64_t kept = 0;  ///< points that are not missing, but stand in the mask as if they were

  void write(ByteWriter& out) const;
  /// Throws ArchiveError.
  static FrameTransform read(ByteReader& in);
};

/// A transformed frame that is being restored.
struct TransformTarget {
  const FrameTransform& transform;
  double min;  ///< of the values
  double max;
  std::optional<PointBits> negative = {};  ///< nothing where all signs are alike

  bool all_negative() const { return !negative && min < 0; }
};

/// Restores values one by one. What it is given for points that are kept does not matter.
template <class T, class Params>
struct PointRestorer {
  Params params;
  double least;  ///< range of what the predictor has coded
  double most;
  T min;  ///< of the values
  T max;

  PointRestorer(const Params& p, const TransformTarget& target)
      : params(p),
        least(target.transform.min),
        most(target.transform.max),
        min(static_cast<T>(target.min)),
        max(static_cast<T>(target.max)) {}

  CUSZI_HD T operator()(T y, bool negative) const {
    const double inside = clamp_restored(static_cast<double>(y), least, most);
    const T magnitude = rounded_to<T>(params.template inverse<T>(inside));
    return clamp_to(negative ? -magnitude : magnitude, min, max);
  }
};

}  // namespace cuszi

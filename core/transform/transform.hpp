#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <variant>

#include "core/base/bytes.hpp"
#include "core/base/dtype.hpp"
#include "core/base/hd.hpp"
#include "core/field/point_bits.hpp"
#include "core/field/quantizer.hpp"
#include "core/field/sample.hpp"
#include "core/field/value_bound.hpp"
#include "core/transform/log2.hpp"

namespace cuszi {

/// The transforms, in the order of TransformParams; the numbers stand in archives.
enum class TransformId : std::uint8_t { log = 0, symlog = 1, log_linear = 2 };

/// A magnitude as a T, rounded and not beyond the largest ones.
template <class T>
CUSZI_HD inline T rounded_to(double x) {
  constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(x < most ? x : most);
}

/// Whether transforms of magnitudes around x err little enough: neither x nor what becomes of it
/// under a share of it is subnormal or overflows. Of doubles no one is certain: a logarithm's own
/// rounding, up to 2^-43, counts beside those of the values.
template <class T>
CUSZI_HD inline bool is_certain(double x) {
  constexpr double few = 4;
  return sizeof(T) < sizeof(double) && x > few * std::numeric_limits<T>::min() &&
         x < std::numeric_limits<T>::max() / few;
}

/// The table of transforms, in the order of their ids: what predictors see instead of values. A new
/// transform is one more row here and its tests. A row has
///
///     id, name         as in archives
///     has_signs        whether y has the sign of x, and 0 is 0. Else signs stand in a section of
///                      their own, and zeros are kept, as missing points are
///     forward<T>(x)    of the magnitude of a finite value, as a T; with signs, it is not negative
///     inverse<T>(y)    the magnitude as a finite T, which never decreases with y
///     certain<T>(x, y) whether both keep to the errors that TransformChoice counts on, for
///                      magnitudes around x, which becomes y
///     write(), read()  what stands in a frame's header
///
/// forward() need not be exact: what decides is whether all that inverse() makes of values around y
/// lies within the bound of x (PointTransform). y = log2 |x| - centre, for a bound that is a share
/// of the value.
struct LogTransform {
  static constexpr TransformId id = TransformId::log;
  static constexpr std::string_view name = "log";
  static constexpr bool has_signs = false;

  std::int16_t centre = 0;  ///< about the middle of the logarithms, so that y needs few bits

  template <class T>
  CUSZI_HD T forward(T x) const {
    if constexpr (sizeof(T) == sizeof(double)) {
      return log2_of_value<double>(x) - centre;
    } else {
      constexpr float scale = 0x1p24F;  // makes subnormal numbers normal
      const bool is_normal = x >= std::numeric_limits<float>::min();
      return log2_of_normal(is_normal ? x : x * scale, is_normal ? centre : centre + 24);
    }
  }
  /// forward() of a normal magnitude, from a value of either sign. What it makes of others is not
  /// certain().
  template <class T>
  CUSZI_HD T forward_normal(T x) const {
    if constexpr (sizeof(T) == sizeof(double)) {
      return log2_of_value<double>(magnitude_of(x)) - centre;
    } else {
      return log2_of_normal(x, centre);
    }
  }

  template <class T>
  CUSZI_HD T inverse(T y) const {
    if constexpr (sizeof(T) == sizeof(double)) {
      return rounded_to<double>(exp2_of_value<double>(y + centre));
    } else {
      constexpr float most = 4096;  // more than any logarithm less any centre
      constexpr int overflows = 1000;
      const FloatPower power = FloatPower::of(clamp_to(y, -most, most));
      const int exponent = clamp_to(power.exponent + centre, -overflows, overflows);
      return rounded_to<float>(static_cast<double>(power.mantissa) * power_of_two(exponent));
    }
  }
  /// inverse() where that is a normal number: for certain() y, and what a bound makes of them.
  template <class T>
  CUSZI_HD T inverse_normal(T y) const {
    if constexpr (sizeof(T) == sizeof(double)) {
      return inverse(y);
    } else {
      return FloatPower::of(y).scaled_by(centre);
    }
  }

  template <class T>
  CUSZI_HD T least_certain() const {
    return static_cast<T>(std::numeric_limits<T>::min_exponent + 1 - centre);
  }
  template <class T>
  CUSZI_HD T most_certain() const {
    return static_cast<T>(std::numeric_limits<T>::max_exponent - 2 - centre);
  }
  template <class T>
  CUSZI_HD bool certain(T /*x*/, T y) const {
    return y > least_certain<T>() && y < most_certain<T>();
  }

  void write(ByteWriter& out) const { out.put(centre); }
  static LogTransform read(ByteReader& in) { return {in.get<std::int16_t>()}; }

  friend bool operator==(const LogTransform&, const LogTransform&) = default;
};

/// The magnitude where a share of values becomes an absolute bound, and 1 over it.
struct Knee {
  static constexpr double most = 0x1p1000;  ///< of it, its inverse and multiples that are certain

  double magnitude = 1;
  double inverse = 1;

  Knee() = default;
  explicit Knee(double at) : magnitude(at), inverse(1 / at) {}

  void write(ByteWriter& out) const { out.put(magnitude); }
  /// Throws ArchiveError.
  static Knee read(ByteReader& in);

  friend bool operator==(const Knee&, const Knee&) = default;
};

inline constexpr double ln_2 = 0x1.62e42fefa39efp-1;
inline constexpr double log2_e = 0x1.71547652b82fep+0;

/// For the larger of an absolute bound and a share: x / knee up to it, 1 + ln(x / knee) beyond.
struct SymlogTransform {
  static constexpr TransformId id = TransformId::symlog;
  static constexpr std::string_view name = "symlog";
  static constexpr bool has_signs = true;

  Knee knee;

  template <class T>
  CUSZI_HD T forward(T x) const {
    const double scaled = x * knee.inverse;
    return static_cast<T>(scaled <= 1 ? scaled : 1 + log2_of_value<T>(scaled) * ln_2);
  }
  template <class T>
  CUSZI_HD T inverse(T y) const {
    return rounded_to<T>(knee.magnitude * (y <= 1 ? y : exp2_of_value<T>((y - 1.0) * log2_e)));
  }
  template <class T>
  CUSZI_HD bool certain(T x, T /*y*/) const {
    return x * knee.inverse < Knee::most && is_certain<T>(x < knee.magnitude ? knee.magnitude : x);
  }

  void write(ByteWriter& out) const { knee.write(out); }
  static SymlogTransform read(ByteReader& in) { return {Knee::read(in)}; }

  friend bool operator==(const SymlogTransform&, const SymlogTransform&) = default;
};

/// For the smaller of the two: log2(x / knee) up to it, (x / knee - 1) / ln 2 beyond.
struct LogLinearTransform {
  static constexpr TransformId id = TransformId::log_linear;
  static constexpr std::string_view name = "log-linear";
  static constexpr bool has_signs = false;

  Knee knee;

  template <class T>
  CUSZI_HD T forward(T x) const {
    const double scaled = x * knee.inverse;
    return static_cast<T>(scaled < 1 ? log2_of_value<T>(scaled) : (scaled - 1) * log2_e);
  }
  template <class T>
  CUSZI_HD T inverse(T y) const {
    return rounded_to<T>(knee.magnitude * (y < 0 ? exp2_of_value<T>(y) : 1 + y * ln_2));
  }
  /// Beyond the knee, what rounds x counts the more, the larger it is.
  template <class T>
  CUSZI_HD bool certain(T x, T /*y*/) const {
    return x < knee.magnitude && x * knee.inverse > 1 / Knee::most && is_certain<T>(x);
  }

  void write(ByteWriter& out) const { knee.write(out); }
  static LogLinearTransform read(ByteReader& in) { return {Knee::read(in)}; }

  friend bool operator==(const LogLinearTransform&, const LogLinearTransform&) = default;
};

using TransformParams = std::variant<LogTransform, SymlogTransform, LogLinearTransform>;

std::string_view name_of(const TransformParams& params);
/// See the table's has_signs.
bool has_signs(const TransformParams& params);
void write_transform(const TransformParams& params, ByteWriter& out);
/// Reads what write_transform() writes. Throws ArchiveError.
TransformParams read_transform(ByteReader& in);

/// How a frame's values become what its predictor codes.
struct TransformChoice {
  TransformParams params;
  double bound = 0;    ///< absolute, of what the predictor codes; 0 if that cannot be coded
  double certain = 0;  ///< y of smaller magnitudes are rounded so little that the bound of x holds
  double sampled = 0;  ///< largest magnitude of what the sample becomes
};

/// Chooses for a bound that goes with each value, by a sample of the magnitudes. Where it is
/// `quick`, values far beyond the sample are to be certain too, if that takes little of what the
/// predictor codes.
TransformChoice choose_transform(const ValueBound& bound, DType dtype, const MagnitudeRange& sample,
                                 bool quick);

/// A value as predictors see it: NaN, as if it was missing, if its bits are to be kept.
template <class T>
struct Transformed {
  T value;
  bool is_negative;
};

/// What y stands for. With signs, y is that of the magnitude of a value that is negative or not,
/// and what has crossed 0 has the other sign.
template <class T, class Params>
CUSZI_HD inline T restored_from(const Params& params, T y, bool negative) {
  if constexpr (Params::has_signs) {
    const T magnitude = params.inverse(magnitude_of(y));
    return negative == (y < 0) ? magnitude : 0 - magnitude;  // never -0
  } else {
    const T magnitude = params.inverse(y);
    return negative ? -magnitude : magnitude;
  }
}

/// Transforms values one by one. A value is kept bit for bit unless everything that may be
/// restored, whatever the predictor makes of it under its own bound, is within the bound of the
/// values and keeps the rules. That is decided by the two ends of what may be restored, as
/// inverse() never decreases; but for the values whose y is certain.
template <class T, class Params>
struct PointTransform {
  Params params;
  double step;  ///< the predictor's bound
  T certain;    ///< y of smaller magnitudes may be; 0 if there are rules
  ValueBound bound;
  MissingTest<T> missing;
  RestoreRules<T> rules;

  PointTransform(const Params& p, const TransformChoice& choice, const ValueBound& of_values,
                 const FillValues& fills, const RestoreRules<T>& kept)
      : params(p),
        step(choice.bound),
        certain(kept.any() ? T{0} : static_cast<T>(choice.certain)),
        bound(of_values),
        missing(fills),
        rules(kept) {}

  /// Whether there is no doubt about a point of any magnitude that becomes y by a transform whose
  /// certain() looks at y alone.
  CUSZI_HD bool is_certain(T y) const {
    return magnitude_of(y) < certain && params.certain(T{1}, y);
  }

  CUSZI_HD Transformed<T> operator()(T x) const {
    const Transformed<T> kept{std::numeric_limits<T>::quiet_NaN(), false};
    if (missing(x) || (!Params::has_signs && x == 0)) return kept;
    const bool negative = x < 0;
    const T magnitude = negative ? -x : x;
    const T y = params.forward(magnitude);
    const auto place = static_cast<double>(y);
    const Transformed<T> point =
        Params::has_signs ? Transformed<T>{negative ? -y : y, false} : Transformed<T>{y, negative};
    if (magnitude_of(y) < certain && params.certain(magnitude, y)) return point;
    const T least = restored_from(params, static_cast<T>(place - step), negative);
    const T most = restored_from(params, static_cast<T>(place + step), negative);
    const bool good =
        y - y == 0 && may_become(x, least) && may_become(x, most) &&
        !rules.fills.any_between(least < most ? least : most, least < most ? most : least);
    return good ? point : kept;
  }

 private:
  CUSZI_HD bool may_become(T x, T end) const {
    return bound.holds(static_cast<double>(x), static_cast<double>(end)) && rules.allow(x, end);
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
  bool is_by_tiles = false;  ///< what decodes the frame restores values; else a step of its own
  std::optional<PointBits> negative = {};  ///< nothing where all signs are alike, or by tiles

  bool all_negative() const { return !negative && min < 0; }
};

/// Restores values from logarithms, for those who restore them tile by tile. There they are not
/// limited to their range: those of values are. All is simple where the whole range is certain().
template <class T>
struct LogRestorer {
  LogTransform log;
  T min;  ///< of the values
  T max;
  bool is_normal;

  LogRestorer(const LogTransform& transform, const TransformTarget& target)
      : log(transform),
        min(static_cast<T>(target.min)),
        max(static_cast<T>(target.max)),
        is_normal(log.certain(T{1}, static_cast<T>(target.transform.min)) &&
                  log.certain(T{1}, static_cast<T>(target.transform.max))) {}

  /// Restores a point that is negative if the lowest bit of `sign` is set.
  template <bool normal>
  CUSZI_HD T restored(T y, std::uint32_t sign) const {
    if constexpr (normal) {
      constexpr int top = 8 * sizeof(T) - 1;
      const auto bits = std::bit_cast<BitsOf<T>>(log.inverse_normal(y));
      return clamp_restored(std::bit_cast<T>(bits | static_cast<BitsOf<T>>(sign) << top), min, max);
    } else {
      return clamp_to(restored_from(log, y, (sign & 1) != 0), min, max);
    }
  }
};

/// Restores values one by one. What it is given for points that are kept does not matter.
template <class T, class Params>
struct PointRestorer {
  Params params;
  T least;  ///< range of what the predictor has coded
  T most;
  T min;  ///< of the values
  T max;

  PointRestorer(const Params& p, const TransformTarget& target)
      : params(p),
        least(static_cast<T>(target.transform.min)),
        most(static_cast<T>(target.transform.max)),
        min(static_cast<T>(target.min)),
        max(static_cast<T>(target.max)) {}

  CUSZI_HD T operator()(T y, bool negative) const {
    const T inside = clamp_restored(y, least, most);
    return clamp_to(restored_from(params, inside, negative && !Params::has_signs), min, max);
  }
};

}  // namespace cuszi

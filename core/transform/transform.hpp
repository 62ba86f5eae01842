#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <variant>

#include "core/base/bytes.hpp"
#include "core/base/dtype.hpp"
#include "core/base/hd.hpp"
#include "core/field/bound.hpp"
#include "core/field/quantizer.hpp"
#include "core/field/sample.hpp"
#include "core/transform/log2.hpp"

namespace cuszi {

/// In the order of TransformParams; numbers in archives.
enum class TransformId : std::uint8_t { log = 0, symlog = 1, log_linear = 2 };

/// Saturates at the largest finite T.
template <class T>
CUSZI_HD inline T rounded_to(double x) {
  constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(x < most ? x : most);
}

/// Neither x nor its values within the bound are subnormal or overflow. Never for doubles, whose
/// logarithms round by up to 2^-43.
template <class T>
CUSZI_HD inline bool is_certain(double x) {
  constexpr double few = 4;
  return sizeof(T) < sizeof(double) && x > few * std::numeric_limits<T>::min() &&
         x < std::numeric_limits<T>::max() / few;
}

/// The values that predictors see instead of the original ones, by id. A row has
///
///     id, name         in archives
///     has_signs        whether y has the sign of x, and 0 maps to 0; otherwise signs have a
///                      section, and zeros are stored exactly
///     forward<T>(x)    of a finite magnitude; nonnegative if has_signs
///     inverse<T>(y)    a finite magnitude, monotonic in y
///     certain<T>(x, y) whether TransformChoice's error estimates hold around x and its y
///     write(), read()  its part of the frame's header
///
/// forward() need not be exact: PointTransform verifies that inverse() of all y within the
/// predictor's bound is within the bound of x. LogTransform: y = log2 |x| - centre, for a bound
/// relative to the value.
struct LogTransform {
  static constexpr TransformId id = TransformId::log;
  static constexpr std::string_view name = "log";
  static constexpr bool has_signs = false;

  std::int16_t centre = 0;  ///< about the median logarithm, to save bits of y

  template <class T>
  CUSZI_HD T forward(T x) const {
    if constexpr (sizeof(T) == sizeof(double)) {
      return log2_of_value<double>(x) - centre;
    } else {
      constexpr float scale = 0x1p24F;  // makes subnormals normal
      const bool is_normal = x >= std::numeric_limits<float>::min();
      return log2_of_normal(is_normal ? x : x * scale, is_normal ? centre : centre + 24);
    }
  }
  /// forward() for normal magnitudes, of either sign. Others give a y that is not certain().
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
      constexpr float most = 4096;  // exceeds any |log2| + |centre|
      constexpr int overflows = 1000;
      const FloatPower power = FloatPower::of(clamp_to(y, -most, most));
      const int exponent = clamp_to(power.exponent + centre, -overflows, overflows);
      return rounded_to<float>(static_cast<double>(power.mantissa) * power_of_two(exponent));
    }
  }
  /// inverse() whose result is normal: for certain() y and their neighbours within the bound.
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

/// Magnitude at which the bounds are equal, and its inverse.
struct Knee {
  static constexpr double most = 0x1p1000;  ///< of the magnitude, its inverse and certain multiples

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

struct KneeTransform {
  Knee knee;

  void write(ByteWriter& out) const { knee.write(out); }

  friend bool operator==(const KneeTransform&, const KneeTransform&) = default;
};

/// For the larger bound: x / knee up to the knee, 1 + ln(x / knee) beyond.
struct SymlogTransform : KneeTransform {
  static constexpr TransformId id = TransformId::symlog;
  static constexpr std::string_view name = "symlog";
  static constexpr bool has_signs = true;

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

  static SymlogTransform read(ByteReader& in) { return {{Knee::read(in)}}; }
};

/// For the smaller bound: log2(x / knee) up to the knee, (x / knee - 1) / ln 2 beyond.
struct LogLinearTransform : KneeTransform {
  static constexpr TransformId id = TransformId::log_linear;
  static constexpr std::string_view name = "log-linear";
  static constexpr bool has_signs = false;

  template <class T>
  CUSZI_HD T forward(T x) const {
    const double scaled = x * knee.inverse;
    return static_cast<T>(scaled < 1 ? log2_of_value<T>(scaled) : (scaled - 1) * log2_e);
  }
  template <class T>
  CUSZI_HD T inverse(T y) const {
    return rounded_to<T>(knee.magnitude * (y < 0 ? exp2_of_value<T>(y) : 1 + y * ln_2));
  }
  /// Not beyond the knee, where the rounding of x grows relative to y.
  template <class T>
  CUSZI_HD bool certain(T x, T /*y*/) const {
    return x < knee.magnitude && x * knee.inverse > 1 / Knee::most && is_certain<T>(x);
  }

  static LogLinearTransform read(ByteReader& in) { return {{Knee::read(in)}}; }
};

using TransformParams = std::variant<LogTransform, SymlogTransform, LogLinearTransform>;

std::string_view name_of(const TransformParams& params);
bool has_signs(const TransformParams& params);
void write_transform(const TransformParams& params, ByteWriter& out);
/// Throws ArchiveError.
TransformParams read_transform(ByteReader& in);

struct TransformChoice {
  TransformParams params;
  double bound = 0;    ///< absolute, of y; 0 if no y can be coded
  double certain = 0;  ///< y below this magnitude round little enough
  double sampled = 0;  ///< largest magnitude of y in the sample
};

/// From sampled magnitudes. If `quick`, values far beyond the sample are certain too where that
/// costs little of the bound.
TransformChoice choose_transform(const ValueBound& bound, DType dtype, const MagnitudeRange& sample,
                                 bool quick);

/// NaN if the value must be stored exactly.
template <class T>
struct Transformed {
  T value;
  bool is_negative;
};

/// Value of y. With signs, `negative` is the original's sign, and y below 0 crossed zero.
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

/// A value becomes NaN, to be stored exactly, unless every y within the predictor's bound restores
/// within its bound and the rules. inverse() is monotonic, so both ends suffice.
template <class T, class Params>
struct PointTransform {
  Params params;
  double step;  ///< bound of y
  T certain;    ///< y of smaller magnitudes need no test; 0 with rules
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

  /// For transforms whose certain() ignores x.
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

struct FrameTransform {
  TransformParams params;
  double min = 0;  ///< of y
  double max = 0;
  std::uint64_t kept = 0;  ///< points stored exactly, in the mask though not missing

  void write(ByteWriter& out) const;
  /// Throws ArchiveError.
  static FrameTransform read(ByteReader& in);
};

struct TransformTarget {
  const FrameTransform& transform;
  double min;  ///< of the values
  double max;
  bool is_by_tiles = false;  ///< the decoder restores values itself
  /// Bit i % 64 of word i / 64: point i is negative. In the backend's memory; empty if all signs
  /// are equal, or by tiles.
  std::span<const std::uint64_t> negative = {};

  bool all_negative() const { return negative.empty() && min < 0; }
};

/// For tile decoders, where y is not clamped to its range. `is_normal` selects the fast path: the
/// whole range is certain().
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

  /// Negative if the lowest bit of `sign` is set.
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

/// Restores values one by one; masked points may have any y.
template <class T, class Params>
struct PointRestorer {
  Params params;
  T least;  ///< of y
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

#include "core/transform/transform.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/param_table.hpp"

namespace cuszi {

namespace {

LogTransform log_transform_of(const MagnitudeRange& sample) {
  if (!sample.any()) return {};
  const int sum = std::ilogb(sample.least) + std::ilogb(sample.largest) + 1;
  return {static_cast<std::int16_t>(sum / 2)};
}

/// Magnitude at which the relative bound equals the absolute one, limited so that its inverse is
/// finite.
Knee knee_of(const ValueBound& bound) {
  return Knee(std::clamp(bound.bound / bound.share, 1 / Knee::most, Knee::most));
}

TransformParams transform_for(const ValueBound& bound, const MagnitudeRange& sample) {
  switch (bound.kind) {
    case ValueBound::Kind::either: return SymlogTransform{{knee_of(bound)}};
    case ValueBound::Kind::both: return LogLinearTransform{{knee_of(bound)}};
    default: return log_transform_of(sample);
  }
}

template <class T, class Params>
double largest_of(const Params& transform, const MagnitudeRange& sample) {
  if (!sample.any()) return 0;
  const T first = transform.forward(static_cast<T>(sample.least));
  const T last = transform.forward(static_cast<T>(sample.largest));
  return static_cast<double>(std::max(magnitude_of(first), magnitude_of(last)));
}

/// Largest error of y that respects the share, without rounding.
template <class Params>
double reach_of(double share) {
  const double binary = log2_of_value<double>(1 + share);
  return Params::id == TransformId::symlog ? binary * ln_2 : binary;
}

// Margin for rounding and function errors at y of the sampled magnitude; holds below twice that.

template <class T>
inline constexpr double near_1 = sizeof(T) == sizeof(float) ? 0x1p-23 : 0x1p-48;

/// Multiple of near_1 for logarithms in double, which round by more from 2^8 on.
template <class T>
double times_near_1(double largest) {
  constexpr double safe = 8;
  return sizeof(T) == sizeof(float) ? 1 : std::max(1.0, largest / safe);
}

/// Floats: both polynomials and rounding take 1.1 x 2^-22. Doubles round twice by half an ulp at
/// four times the largest.
template <class T>
double room_for(const LogTransform& transform, double largest) {
  if constexpr (sizeof(T) == sizeof(float)) return 0x1.4p-22;
  return 0x1p-46 * times_near_1<T>(largest + std::abs(transform.centre));
}
template <class T>
double room_for(const SymlogTransform& /*transform*/, double largest) {
  return near_1<T> * times_near_1<T>(largest * log2_e);
}
/// Beyond the knee the margin is relative to y.
template <class T>
double room_for(const LogLinearTransform& /*transform*/, double largest) {
  return near_1<T> * (1 + largest);
}

template <class T, class Params>
TransformChoice choice_of(const Params& transform, double share, const MagnitudeRange& sample,
                          bool quick) {
  const double reach = reach_of<Params>(share);
  const double sampled = largest_of<T>(transform, sample);
  double largest = std::max(sampled, 1.0);
  if (Params::id == TransformId::log_linear) {
    constexpr double most_of_reach = 0x1p-4;  // that few large values may take
    largest = std::clamp(reach * most_of_reach / near_1<T>, 1.0, largest);
  }
  if (Params::id == TransformId::log && quick) {
    constexpr double most_of_reach = 0x1p-7;
    constexpr double enough = 16;  // 32 octaves on either side
    const double spacing = std::ldexp(1.0, -std::numeric_limits<T>::digits);
    largest = std::max(largest, std::min(reach * most_of_reach / spacing, enough));
  }
  // Half an ulp.
  const double rounding = std::ldexp(1.0, std::ilogb(largest) - std::numeric_limits<T>::digits);
  const double most = reach * (1 - 0x1p-40) - room_for<T>(transform, largest);
  return {transform, std::max(most - rounding, 0.0), std::ldexp(2.0, std::ilogb(largest)), sampled};
}

}  // namespace

std::string_view name_of(const TransformParams& params) {
  return std::visit([](const auto& row) { return row.name; }, params);
}

bool has_signs(const TransformParams& params) {
  return std::visit([](const auto& row) { return row.has_signs; }, params);
}

void write_transform(const TransformParams& params, ByteWriter& out) {
  std::visit(
      [&](const auto& row) {
        out.put(row.id);
        row.write(out);
      },
      params);
}

TransformParams read_transform(ByteReader& in) {
  return with_row<TransformParams>(
      in.get<TransformId>(), "transform",
      [&](auto row) -> TransformParams { return decltype(row)::read(in); });
}

TransformChoice choose_transform(const ValueBound& bound, DType dtype, const MagnitudeRange& sample,
                                 bool quick) {
  return with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    return std::visit(
        [&](const auto& row) { return choice_of<T>(row, bound.share, sample, quick); },
        transform_for(bound, sample));
  });
}

Knee Knee::read(ByteReader& in) {
  const Knee knee(in.get<double>());
  const bool possible = std::isnormal(knee.magnitude) && std::isnormal(knee.inverse);
  if (!possible || knee.magnitude < 0)
    throw ArchiveError("a frame's transform has an invalid knee");
  return knee;
}

void FrameTransform::write(ByteWriter& out) const {
  write_transform(params, out);
  out.put(min);
  out.put(max);
  out.varint(kept);
}

FrameTransform FrameTransform::read(ByteReader& in) {
  FrameTransform transform;
  transform.params = read_transform(in);
  transform.min = in.get<double>();
  transform.max = in.get<double>();
  transform.kept = in.varint();
  if (!std::isfinite(transform.min) || !std::isfinite(transform.max) ||
      transform.min > transform.max) {
    throw ArchiveError("a frame's transformed range is impossible");
  }
  return transform;
}

}  // namespace cuszi

#include "cpu_ref/field/scan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/wide_vectors.hpp"

namespace cuszi::cpu {

namespace {

constexpr std::uint64_t block_points = std::uint64_t{1} << 16;

template <class T>
std::span<const T> block_of(std::span<const T> values, std::uint64_t i) {
  const std::uint64_t first = i * block_points;
  return values.subspan(first, std::min<std::uint64_t>(block_points, values.size() - first));
}

template <class T>
struct BlockRange {
  T min = std::numeric_limits<T>::max();
  T max = std::numeric_limits<T>::lowest();
  std::uint64_t missing = 0;

  void include(const BlockRange& other) {
    min = std::min(min, other.min);
    max = std::max(max, other.max);
    missing += other.missing;
  }
};

/// From bits as ordered integers: branchless, and vectorises. Excludes fills and NaN.
template <class T>
BlockRange<T> range_by_bits(std::span<const T> values) {
  using Bits = std::make_signed_t<BitsOf<T>>;
  constexpr auto infinite = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  constexpr Bits least = std::numeric_limits<Bits>::min();
  constexpr Bits most = std::numeric_limits<Bits>::max();
  constexpr int sign = std::numeric_limits<Bits>::digits;
  const auto in_order = [](Bits bits) { return bits ^ ((bits >> sign) & most); };  // its own
                                                                                   // inverse
  Bits min = most;
  Bits max = least;
  Bits present = 0;
  for (const T value : values) {
    const auto bits = std::bit_cast<Bits>(value);
    const Bits finite = ((bits & most) - infinite) >> sign;  // all ones or zero
    const Bits key = in_order(bits) & finite;
    min = std::min(min, key | (most & ~finite));
    max = std::max(max, key | (least & ~finite));
    present -= finite;
  }
  BlockRange<T> range;
  range.missing = values.size() - static_cast<std::uint64_t>(present);
  if (present == 0) return range;
  range.min = std::bit_cast<T>(in_order(min));
  range.max = std::bit_cast<T>(in_order(max));
  return range;
}

template <class T>
BlockRange<T> range_of(std::span<const T> values, const MissingTest<T>& missing) {
  if (missing.count == 0) return with_wide_vectors([&] { return range_by_bits(values); });
  BlockRange<T> range;
  for (const T value : values) {
    const bool skip = missing(value);
    range.missing += skip ? 1 : 0;
    range.min = !skip && value < range.min ? value : range.min;
    range.max = !skip && value > range.max ? value : range.max;
  }
  return range;
}

template <class T>
void sample_errors(const LorenzoParams& draft, const Extents3& extents, const T* values,
                   const MissingTest<T>& missing, FieldScan& scan) {
  for (std::uint64_t k = 0; k < sample_points; ++k) {
    const std::uint64_t point = sample_point(k, count_of(extents));
    if (missing(values[point])) continue;
    scan.errors.add(
        sampled_lorenzo_error(draft, extents, values, coordinates_of(point, extents), missing));
  }
}

template <class T>
void sample_errors(const InterpParams& draft, const Extents3& extents, const T* values,
                   const MissingTest<T>& missing, FieldScan& scan) {
  for (std::uint64_t k = 0; k < sample_points; ++k) {
    const Extents3 at = coordinates_of(sample_point(k, count_of(extents)), extents);
    const double error = sampled_interp_error(draft, extents, values, at, missing);
    if (error >= 0) scan.errors.add(error);
  }
  for (unsigned axis = 0; axis < 3; ++axis) {
    scan.splines.profiled[axis] = extents[axis] >= 7;
    if (!scan.splines.profiled[axis]) continue;
    for (std::uint64_t k = 0; k < spline_sample_points; ++k) {
      profile_splines(extents, values, spline_sample_point(k, extents), axis, missing,
                      scan.splines.sum[axis]);
    }
  }
}

template <class T>
void sample_errors(const TilesParams& /*draft*/, const Extents3& extents, const T* values,
                   const MissingTest<T>& missing, FieldScan& scan) {
  scan.sampled = sampled_magnitude(std::span(values, count_of(extents)), missing);
}

/// Other predictors need no sampled errors.
template <class Params, class T>
void sample_errors(const Params& /*draft*/, const Extents3& /*extents*/, const T* /*values*/,
                   const MissingTest<T>& /*missing*/, FieldScan& /*scan*/) {}

}  // namespace

template <class T>
FieldScan scan_frame(const Extents3& extents, std::span<const T> values, const FillValues& fills,
                     const PredictorParams& draft) {
  const MissingTest<T> missing(fills);
  std::vector<BlockRange<T>> ranges(ceil_div(values.size(), block_points));
  parallel_for(ranges.size(),
               [&](std::uint64_t i) { ranges[i] = range_of(block_of(values, i), missing); });
  BlockRange<T> whole;
  for (const BlockRange<T>& range : ranges) whole.include(range);
  FieldScan scan;
  scan.missing = whole.missing;
  if (scan.missing == values.size()) return scan;
  scan.min = static_cast<double>(whole.min) + 0.0;  // -0 and 0 must not depend on the order
  scan.max = static_cast<double>(whole.max) + 0.0;
  std::visit([&](const auto& d) { sample_errors(d, extents, values.data(), missing, scan); },
             draft);
  return scan;
}

template <class T>
double sampled_magnitude(std::span<const T> values, const MissingTest<T>& missing) {
  const std::uint64_t points = values.size();
  double largest = 0;
  for (std::uint64_t k = 0; k < sample_size(points); ++k) {
    const T value = values[magnitude_sample(k, points)];
    if (!missing(value)) largest = std::max(largest, static_cast<double>(magnitude_of(value)));
  }
  return largest;
}

template <class T>
MagnitudeRange sampled_magnitudes(std::span<const T> values, const MissingTest<T>& missing) {
  const std::uint64_t points = values.size();
  MagnitudeRange range;
  for (std::uint64_t k = 0; k < sample_size(points); ++k) {
    const T value = values[magnitude_sample(k, points)];
    if (value != 0 && !missing(value)) range.include(static_cast<double>(magnitude_of(value)));
  }
  return range;
}

template <class T>
std::uint64_t count_bits(std::span<const T> values, BitsOf<T> bits) {
  std::vector<std::uint64_t> counts(ceil_div(values.size(), block_points));
  parallel_for(counts.size(), [&](std::uint64_t i) {
    for (const T value : block_of(values, i)) {
      counts[i] += std::bit_cast<BitsOf<T>>(value) == bits ? 1 : 0;
    }
  });
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

template <class T>
Mask build_mask(std::span<const T> values, std::span<const T> originals, const FillValues& fills,
                std::uint64_t missing_points) {
  Mask mask;
  mask.count = missing_points;
  if (missing_points == 0) return mask;
  const MissingTest<T> missing(fills);
  mask.words.resize(ceil_div(values.size(), 64), 0);
  mask.values.resize(missing_points * sizeof(T));
  std::byte* next = mask.values.data();
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    if (!missing(values[i])) continue;
    mask.words[i / 64] |= std::uint64_t{1} << (i % 64);
    std::memcpy(next, &originals[i], sizeof(T));
    next += sizeof(T);
  }
  return mask;
}

template FieldScan scan_frame(const Extents3&, std::span<const float>, const FillValues&,
                              const PredictorParams&);
template FieldScan scan_frame(const Extents3&, std::span<const double>, const FillValues&,
                              const PredictorParams&);
template double sampled_magnitude(std::span<const float>, const MissingTest<float>&);
template double sampled_magnitude(std::span<const double>, const MissingTest<double>&);
template MagnitudeRange sampled_magnitudes(std::span<const float>, const MissingTest<float>&);
template MagnitudeRange sampled_magnitudes(std::span<const double>, const MissingTest<double>&);
template std::uint64_t count_bits(std::span<const float>, std::uint32_t);
template std::uint64_t count_bits(std::span<const double>, std::uint64_t);
template Mask build_mask(std::span<const float>, std::span<const float>, const FillValues&,
                         std::uint64_t);
template Mask build_mask(std::span<const double>, std::span<const double>, const FillValues&,
                         std::uint64_t);

}  // namespace cuszi::cpu

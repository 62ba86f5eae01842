#include "cpu_ref/metrics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "core/lane_sums.hpp"
#include "core/quantizer.hpp"
#include "cpu_ref/parallel.hpp"

namespace cuszi::cpu {

namespace {

/// Whether two missing values are missing in the same way: both NaN, or the same value.
template <class T>
bool are_alike(T a, T b) {
  return a == b || (a != a && b != b);
}

template <class T>
void add_point(Quality& quality, double& squared_error, T original, T restored,
               const MissingTest<T>& missing, double scale, double bound) {
  const std::uint64_t point = quality.points + quality.missing;
  bool good = false;
  bool differs = false;
  if (missing(original)) {
    ++quality.missing;
    good = std::bit_cast<BitsOf<T>>(original) == std::bit_cast<BitsOf<T>>(restored);
    differs = !good && !are_alike(original, restored);
  } else {
    const auto value = static_cast<double>(original);
    quality.min = quality.points == 0 ? value : std::min(quality.min, value);
    quality.max = quality.points == 0 ? value : std::max(quality.max, value);
    ++quality.points;
    differs = missing(restored);
    if (!differs) {
      const double error = magnitude_of(value - static_cast<double>(restored));
      quality.max_error = error > quality.max_error ? error : quality.max_error;
      squared_error += (error * scale) * (error * scale);
      good = within_bound(value, static_cast<double>(restored), bound);
    }
  }
  if (!good && !quality.first_bad) quality.first_bad = point;
  if (!differs) return;
  ++quality.missing_differ;
  if (!quality.first_differ) quality.first_differ = point;
}

/// A block whose errors are squared in units of 2^exponent.
template <class T>
Quality measure_block(std::span<const T> original, std::span<const T> restored,
                      const MissingTest<T>& missing, int exponent, double bound) {
  Quality quality;
  LaneSums squared_errors{};
  const double scale = std::ldexp(1.0, -exponent);
  for (std::size_t i = 0; i < original.size(); ++i) {
    add_point(quality, squared_errors[i % sum_lanes], original[i], restored[i], missing, scale,
              bound);
  }
  quality.squared_error = {tree_sum(squared_errors), exponent};
  return quality;
}

template <class T>
Quality measure(std::span<const T> original, std::span<const T> restored, const FillValues& fills,
                double bound) {
  const MissingTest<T> missing(fills);
  std::vector<Quality> blocks(ceil_div(original.size(), quality_block_points));
  parallel_for(blocks.size(), [&](std::uint64_t i) {
    const std::uint64_t first = i * quality_block_points;
    const std::uint64_t count =
        std::min<std::uint64_t>(quality_block_points, original.size() - first);
    const auto block = [&](int exponent) {
      return measure_block(original.subspan(first, count), restored.subspan(first, count), missing,
                           exponent, bound);
    };
    blocks[i] = block(0);
    const int exponent = square_exponent(blocks[i].max_error);
    if (exponent != 0) blocks[i] = block(exponent);
  });
  Quality whole;
  for (const Quality& block : blocks) whole.merge(block);
  return whole;
}

}  // namespace

Quality measure_quality(DType dtype, Bytes original, Bytes restored, const FillValues& fills,
                        double bound) {
  return with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto values = [](Bytes bytes) {
      return std::span(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
    };
    return measure<T>(values(original), values(restored), fills, bound);
  });
}

}  // namespace cuszi::cpu

#include "cpu_ref/metrics.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "core/lane_sums.hpp"
#include "core/quantizer.hpp"
#include "cpu_ref/parallel.hpp"

namespace cuszi::cpu {

namespace {

template <class T>
void add_point(Quality& quality, double& squared_error, T original, T restored,
               const MissingTest<T>& missing, double bound) {
  const std::uint64_t point = quality.points + quality.missing;
  bool good = false;
  if (missing(original)) {
    ++quality.missing;
    good = std::bit_cast<BitsOf<T>>(original) == std::bit_cast<BitsOf<T>>(restored);
  } else {
    const auto value = static_cast<double>(original);
    const double error = magnitude_of(value - static_cast<double>(restored));
    quality.min = quality.points == 0 ? value : std::min(quality.min, value);
    quality.max = quality.points == 0 ? value : std::max(quality.max, value);
    ++quality.points;
    quality.max_error = error > quality.max_error || error != error ? error : quality.max_error;
    squared_error += error * error;
    good = within_bound(value, static_cast<double>(restored), bound);
  }
  if (!good && !quality.first_bad) quality.first_bad = point;
}

template <class T>
Quality measure(std::span<const T> original, std::span<const T> restored, const FillValues& fills,
                double bound) {
  const MissingTest<T> missing(fills);
  std::vector<Quality> blocks(ceil_div(original.size(), quality_block_points));
  parallel_for(blocks.size(), [&](std::uint64_t i) {
    const std::uint64_t first = i * quality_block_points;
    const std::uint64_t end =
        std::min<std::uint64_t>(first + quality_block_points, original.size());
    Quality quality;
    LaneSums squared_errors{};
    for (std::uint64_t j = first; j < end; ++j) {
      add_point(quality, squared_errors[(j - first) % sum_lanes], original[j], restored[j], missing,
                bound);
    }
    quality.squared_error = tree_sum(squared_errors);
    blocks[i] = quality;
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

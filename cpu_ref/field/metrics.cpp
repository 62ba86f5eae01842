#include "cpu_ref/field/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/base/lane_sums.hpp"
#include "cpu_ref/base/parallel.hpp"

namespace cuszi::cpu {

namespace {

/// A block whose errors are squared in units of 2^exponent.
template <class T>
Quality measure_block(std::span<const T> original, std::span<const T> restored,
                      PointComparison<T> comparison, int exponent) {
  comparison.scale = std::ldexp(1.0, -exponent);
  SeenPoints seen;
  LaneSums squared_errors{};
  for (std::size_t i = 0; i < original.size(); ++i) {
    squared_errors[i % sum_lanes] += seen.add(i, original[i], restored[i], comparison);
  }
  return seen.quality({tree_sum(squared_errors), exponent});
}

template <class T>
Quality measure(std::span<const T> original, std::span<const T> restored, const ValueRules& rules,
                const ValueBound& bound) {
  const PointComparison<T> comparison{MissingTest<T>(rules.fills), rules.isovalues, bound};
  std::vector<Quality> blocks(ceil_div(original.size(), quality_block_points));
  parallel_for(blocks.size(), [&](std::uint64_t i) {
    const std::uint64_t first = i * quality_block_points;
    const std::uint64_t count =
        std::min<std::uint64_t>(quality_block_points, original.size() - first);
    const auto block = [&](int exponent) {
      return measure_block(original.subspan(first, count), restored.subspan(first, count),
                           comparison, exponent);
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

Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                        const ValueBound& bound) {
  return with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto values = [](Bytes bytes) {
      return std::span(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
    };
    return measure<T>(values(original), values(restored), rules, bound);
  });
}

}  // namespace cuszi::cpu

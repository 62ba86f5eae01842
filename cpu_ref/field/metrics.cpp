#include "cpu_ref/field/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/base/least_squares.hpp"
#include "cpu_ref/base/parallel.hpp"

namespace cuszi::cpu {

namespace {

struct OneBound {
  ValueBound bound;

  const ValueBound& of(std::uint64_t /*point*/) const { return bound; }
  double share(std::uint64_t /*point*/, double /*error*/) const { return 0; }
};

struct EachBound {
  const PointBounds& bounds;

  ValueBound of(std::uint64_t point) const { return bounds.of(point); }
  double share(std::uint64_t point, double error) const {
    return error > 0 ? error / bounds.of(point) : 0;
  }
};

/// `first` is the block's first point; errors are squared in units of 2^exponent.
template <class T, class Bounds>
Quality measure_block(std::span<const T> original, std::span<const T> restored,
                      PointComparison<T> comparison, int exponent, const Bounds& bounds,
                      std::uint64_t first) {
  comparison.scale = std::ldexp(1.0, -exponent);
  const MissingTest<T>& missing = comparison.missing;
  SeenPoints seen;
  LaneSums errors{};
  LaneSums squares{};
  double most = 0;
  for (std::size_t i = 0; i < original.size(); ++i) {
    comparison.bound = bounds.of(first + i);
    const double scaled = seen.add(i, original[i], restored[i], comparison);
    errors[i % sum_lanes] += scaled;
    squares[i % sum_lanes] += scaled * scaled;
    const double error =
        std::fabs(static_cast<double>(original[i]) - static_cast<double>(restored[i]));
    const double share = bounds.share(first + i, error);
    if (share > most && !missing(original[i]) && !missing(restored[i])) most = share;
  }
  Quality quality = seen.quality({tree_sum(errors), tree_sum(squares), exponent});
  quality.max_of_bound = std::max(quality.max_of_bound, most);
  return quality;
}

template <class T, class Bounds>
Quality measure(std::span<const T> original, std::span<const T> restored, const ValueRules& rules,
                const Bounds& bounds) {
  const PointComparison<T> comparison{MissingTest<T>(rules.fills), rules.isovalues, bounds.of(0)};
  std::vector<Quality> blocks(ceil_div(original.size(), quality_block_points));
  parallel_for(blocks.size(), [&](std::uint64_t i) {
    const std::uint64_t first = i * quality_block_points;
    const std::uint64_t count =
        std::min<std::uint64_t>(quality_block_points, original.size() - first);
    const auto block = [&](int exponent) {
      return measure_block(original.subspan(first, count), restored.subspan(first, count),
                           comparison, exponent, bounds, first);
    };
    blocks[i] = block(0);
    const int exponent = square_exponent(blocks[i].max_error);
    if (exponent != 0) blocks[i] = block(exponent);
  });
  Quality whole;
  for (const Quality& block : blocks) whole.merge(block);
  return whole;
}

template <class Bounds>
Quality measure_under(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                      const Bounds& bounds) {
  return with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto values = [](Bytes bytes) {
      return std::span(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
    };
    return measure<T>(values(original), values(restored), rules, bounds);
  });
}

}  // namespace

Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                        const ValueBound& bound) {
  return measure_under(dtype, original, restored, rules, OneBound{bound});
}

Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                        const PointBounds& bounds) {
  return measure_under(dtype, original, restored, rules, EachBound{bounds});
}

}  // namespace cuszi::cpu

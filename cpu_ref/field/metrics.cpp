#include "cpu_ref/field/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/base/least_squares.hpp"
#include "core/field/stored_type.hpp"
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
  const WorkValues other(dtype, restored);
  return with_work_values(dtype, original, [&]<class T>(std::span<const T> values) {
    return measure<T>(values, other.as<T>(), rules, bounds);
  });
}

/// Differences of 64-bit integers, which doubles do not hold.
template <class I>
void add_exact_errors(Bytes original, Bytes restored, const FillValues& fills, double bound,
                      Quality& quality) {
  const auto values = [](Bytes bytes) {
    return std::span(reinterpret_cast<const I*>(bytes.data()), bytes.size() / sizeof(I));
  };
  const auto was = values(original);
  const auto now = values(restored);
  const MissingTest<double> is_missing(fills);
  quality.max_error = 0;
  for (std::size_t i = 0; i < was.size(); ++i) {
    if (was[i] == now[i] || is_missing(static_cast<double>(was[i]))) continue;
    const auto a = static_cast<std::uint64_t>(static_cast<std::int64_t>(was[i]));
    const auto b = static_cast<std::uint64_t>(static_cast<std::int64_t>(now[i]));
    const auto error = static_cast<double>(was[i] > now[i] ? a - b : b - a);
    quality.max_error = std::max(quality.max_error, error);
    if (error > bound && (!quality.first_bad || i < *quality.first_bad)) quality.first_bad = i;
  }
}

}  // namespace

Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                        const ValueBound& bound) {
  if (!is_wide_integer(dtype)) {
    return measure_under(dtype, original, restored, rules, OneBound{bound});
  }
  Quality quality = measure_under(dtype, original, restored, rules, OneBound{no_bound});
  with_stored_type_of(dtype, [&](auto zero) {
    using I = decltype(zero);
    if constexpr (std::is_integral_v<I>) {
      add_exact_errors<I>(original, restored, rules.fills, bound.absolute(), quality);
    }
  });
  return quality;
}

Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                        const PointBounds& bounds) {
  return measure_under(dtype, original, restored, rules, EachBound{bounds});
}

}  // namespace cuszi::cpu

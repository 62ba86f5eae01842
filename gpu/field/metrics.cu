#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/base/least_squares.hpp"
#include "gpu/field/metrics.cuh"
#include "gpu/field/stored_values.hpp"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

struct MetricsPolicy {
  static constexpr unsigned threads = 128;
  static constexpr unsigned warps = threads / 32;
  static constexpr unsigned in_flight = 8;  ///< points per lane, loaded together
};
static_assert(sum_lanes == 32 && quality_block_points % 32 == 0);

struct Seen {
  SeenPoints points;
  double errors = 0;  ///< in units of 2^exponent
  double squares = 0;

  /// Result in lane 0; errors are summed like tree_sum().
  __device__ void merge_lanes() {
    const auto other = [](auto value, int distance) {
      return __shfl_down_sync(~0U, value, static_cast<unsigned>(distance));
    };
    SeenPoints& all = points;
    for (int distance = 16; distance > 0; distance /= 2) {
      all.points += other(all.points, distance);
      all.missing += other(all.missing, distance);
      all.missing_differ += other(all.missing_differ, distance);
      all.first_differ = ::min(all.first_differ, other(all.first_differ, distance));
      all.crossings += other(all.crossings, distance);
      all.first_crossing = ::min(all.first_crossing, other(all.first_crossing, distance));
      all.first_bad = ::min(all.first_bad, other(all.first_bad, distance));
      all.min = fmin(all.min, other(all.min, distance));
      all.max = fmax(all.max, other(all.max, distance));
      all.max_error = fmax(all.max_error, other(all.max_error, distance));
      all.max_share = fmax(all.max_share, other(all.max_share, distance));
      all.max_of_bound = fmax(all.max_of_bound, other(all.max_of_bound, distance));
      for (std::uint64_t ValueCounts::*count :
           {&ValueCounts::missing_kept, &ValueCounts::zeros, &ValueCounts::zeros_kept,
            &ValueCounts::negative, &ValueCounts::made_negative}) {
        all.counts.*count += other(all.counts.*count, distance);
      }
      errors += other(errors, distance);
      squares += other(squares, distance);
    }
  }
};

/// One warp per block of points; lanes make its partial sums.
template <class T>
__global__ void __launch_bounds__(MetricsPolicy::threads)
    measure_blocks(const T* original, const T* restored, std::uint64_t points,
                   const __grid_constant__ PointComparison<T> comparison, const double* scales,
                   Seen* blocks) {
  constexpr unsigned in_flight = MetricsPolicy::in_flight;
  const std::uint64_t block =
      (std::uint64_t{blockIdx.x} * MetricsPolicy::threads + threadIdx.x) / 32;
  const std::uint64_t first = block * quality_block_points;
  if (first >= points) return;
  const std::uint64_t count =
      points - first < quality_block_points ? points - first : quality_block_points;
  PointComparison<T> scaled = comparison;
  if (scales != nullptr) scaled.scale = scales[block];
  Seen seen;
  const auto add = [&](std::uint64_t point, T was, T is) {
    const double error = seen.points.add(point, was, is, scaled);
    seen.errors += error;
    seen.squares += error * error;
  };
  std::uint64_t i = threadIdx.x % 32;
  for (; i + 32 * (in_flight - 1) < count; i += 32 * in_flight) {
    T was[in_flight];
    T is[in_flight];
#pragma unroll
    for (unsigned k = 0; k < in_flight; ++k) {
      was[k] = original[first + i + 32 * k];
      is[k] = restored[first + i + 32 * k];
    }
#pragma unroll
    for (unsigned k = 0; k < in_flight; ++k) add(i + 32 * k, was[k], is[k]);
  }
  for (; i < count; i += 32) add(i, original[first + i], restored[first + i]);
  __syncwarp();
  seen.merge_lanes();
  if (threadIdx.x % 32 == 0) blocks[block] = seen;
}

template <class T>
std::span<const Seen> see(DeviceContext& gpu, const T* original, const T* restored,
                          std::uint64_t points, const PointComparison<T>& comparison,
                          const double* scales) {
  const std::uint64_t blocks = ceil_div(points, quality_block_points);
  auto* const seen = gpu.take<Seen>(blocks);
  measure_blocks<<<blocks_for(blocks, MetricsPolicy::warps), MetricsPolicy::threads, 0,
                   gpu.stream()>>>(original, restored, points, comparison, scales, seen);
  check_launch("measure_blocks");
  const Seen* const found = download(gpu, seen, blocks);
  gpu.sync();
  return {found, blocks};
}

template <class T>
Quality measure(DeviceContext& gpu, std::span<const T> original, std::span<const T> restored,
                const ValueRules& rules, const ValueBound& bound) {
  const PointComparison<T> comparison{MissingTest<T>(rules.fills), rules.isovalues, bound};
  const auto look = [&](const double* scales) {
    return see(gpu, original.data(), restored.data(), original.size(), comparison, scales);
  };
  std::span<const Seen> blocks = look(nullptr);
  std::vector<int> exponents;
  std::vector<double> scales;
  for (const Seen& block : blocks) {
    exponents.push_back(square_exponent(block.points.max_error));
    scales.push_back(std::ldexp(1.0, -exponents.back()));
  }
  if (std::any_of(exponents.begin(), exponents.end(), [](int exponent) { return exponent != 0; }))
    blocks = look(upload(gpu, scales.data(), scales.size()));
  Quality whole;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    whole.merge(blocks[i].points.quality({blocks[i].errors, blocks[i].squares, exponents[i]}));
  return whole;
}

}  // namespace

Quality measure_quality(DeviceContext& gpu, DType dtype, Bytes original, Bytes restored,
                        const ValueRules& rules, const ValueBound& bound) {
  return with_type_of(work_of(dtype), [&](auto zero) {
    using T = decltype(zero);
    const auto values = [&](Bytes stored) {
      const Bytes work = to_work(gpu, dtype, stored);
      return std::span(reinterpret_cast<const T*>(work.data()), work.size() / sizeof(T));
    };
    return measure<T>(gpu, values(original), values(restored), rules, bound);
  });
}

}  // namespace cuszi::gpu

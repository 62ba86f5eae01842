#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/lane_sums.hpp"
#include "core/quantizer.hpp"
#include "gpu/metrics.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned threads = 128;
constexpr unsigned warps = threads / 32;
static_assert(sum_lanes == 32 && quality_block_points % 32 == 0);

/// What one lane, or one warp, has seen of a block's points.
struct Seen {
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  std::uint64_t points = 0;
  std::uint64_t missing = 0;
  std::uint64_t missing_differ = 0;
  std::uint64_t first_differ = never;
  std::uint64_t first_bad = never;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double max_error = 0;
  double squares = 0;  ///< of errors in units of 2^exponent, of this lane or of all

  template <class T>
  __device__ void add(std::uint64_t point, T original, T restored, const MissingTest<T>& test,
                      double scale, double bound) {
    bool good = false;
    bool differs = false;
    if (test(original)) {
      ++missing;
      good = __builtin_bit_cast(BitsOf<T>, original) == __builtin_bit_cast(BitsOf<T>, restored);
      const bool alike = original == restored || (original != original && restored != restored);
      differs = !good && !alike;
    } else {
      ++points;
      const auto value = static_cast<double>(original);
      min = value < min ? value : min;
      max = value > max ? value : max;
      differs = test(restored);
      if (!differs) {
        const double error = magnitude_of(value - static_cast<double>(restored));
        max_error = error > max_error ? error : max_error;
        squares += (error * scale) * (error * scale);
        good = within_bound(value, static_cast<double>(restored), bound);
      }
    }
    if (!good && first_bad == never) first_bad = point;
    if (!differs) return;
    ++missing_differ;
    if (first_differ == never) first_differ = point;
  }

  /// Puts together what the lanes of a warp have seen, in lane 0; the squares as tree_sum() does.
  __device__ void merge_lanes() {
    const auto other = [](auto value, int distance) {
      return __shfl_down_sync(~0U, value, static_cast<unsigned>(distance));
    };
    for (int distance = 16; distance > 0; distance /= 2) {
      points += other(points, distance);
      missing += other(missing, distance);
      missing_differ += other(missing_differ, distance);
      first_differ = ::min(first_differ, other(first_differ, distance));
      first_bad = ::min(first_bad, other(first_bad, distance));
      min = fmin(min, other(min, distance));
      max = fmax(max, other(max, distance));
      max_error = fmax(max_error, other(max_error, distance));
      squares += other(squares, distance);
    }
  }
};

/// A warp per block of points, whose lanes make the block's partial sums.
template <class T>
__global__ void __launch_bounds__(threads)
    measure_blocks(const T* original, const T* restored, std::uint64_t points,
                   const __grid_constant__ MissingTest<T> test, const double* scales, double bound,
                   Seen* blocks) {
  constexpr unsigned in_flight = 8;
  const std::uint64_t block = (std::uint64_t{blockIdx.x} * threads + threadIdx.x) / 32;
  const std::uint64_t first = block * quality_block_points;
  if (first >= points) return;
  const std::uint64_t count =
      points - first < quality_block_points ? points - first : quality_block_points;
  const double scale = scales == nullptr ? 1 : scales[block];
  Seen seen;
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
    for (unsigned k = 0; k < in_flight; ++k)
      seen.add(i + 32 * k, was[k], is[k], test, scale, bound);
  }
  for (; i < count; i += 32)
    seen.add(i, original[first + i], restored[first + i], test, scale, bound);
  __syncwarp();
  seen.merge_lanes();
  if (threadIdx.x % 32 == 0) blocks[block] = seen;
}

std::optional<std::uint64_t> unless_never(std::uint64_t point) {
  return point == Seen::never ? std::nullopt : std::optional(point);
}

Quality quality_of(const Seen& seen, int exponent) {
  Quality quality;
  quality.points = seen.points;
  quality.missing = seen.missing;
  if (seen.points != 0) {
    quality.min = seen.min;
    quality.max = seen.max;
  }
  quality.max_error = seen.max_error;
  quality.squared_error = {seen.squares, exponent};
  quality.missing_differ = seen.missing_differ;
  quality.first_differ = unless_never(seen.first_differ);
  quality.first_bad = unless_never(seen.first_bad);
  return quality;
}

template <class T>
std::span<const Seen> see(Work& work, const T* original, const T* restored, std::uint64_t points,
                          const FillValues& fills, const double* scales, double bound) {
  const std::uint64_t blocks = ceil_div(points, quality_block_points);
  auto* const seen = work.take<Seen>(blocks);
  measure_blocks<<<blocks_for(blocks, warps), threads, 0, work.stream()>>>(
      original, restored, points, MissingTest<T>(fills), scales, bound, seen);
  check_launch("measure_blocks");
  const Seen* const found = work.download(seen, blocks);
  work.sync();
  return {found, blocks};
}

template <class T>
Quality measure(Work& work, std::span<const T> original, std::span<const T> restored,
                const FillValues& fills, double bound) {
  const auto look = [&](const double* scales) {
    return see(work, original.data(), restored.data(), original.size(), fills, scales, bound);
  };
  std::span<const Seen> blocks = look(nullptr);
  std::vector<int> exponents;
  std::vector<double> scales;
  for (const Seen& block : blocks) {
    exponents.push_back(square_exponent(block.max_error));
    scales.push_back(std::ldexp(1.0, -exponents.back()));
  }
  if (std::any_of(exponents.begin(), exponents.end(), [](int exponent) { return exponent != 0; }))
    blocks = look(work.upload(scales.data(), scales.size()));
  Quality whole;
  for (std::size_t i = 0; i < blocks.size(); ++i) whole.merge(quality_of(blocks[i], exponents[i]));
  return whole;
}

}  // namespace

Quality measure_quality(Work& work, DType dtype, Bytes original, Bytes restored,
                        const FillValues& fills, double bound) {
  return with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto values = [](Bytes bytes) {
      return std::span(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
    };
    return measure<T>(work, values(original), values(restored), fills, bound);
  });
}

}  // namespace cuszi::gpu

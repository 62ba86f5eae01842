#include <limits>

#include "core/field/fidelity_points.hpp"
#include "gpu/field/metrics.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/extremes.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned side_by_side = fidelity_lanes;  ///< threads per segment

struct FidelityPolicy {
  static constexpr unsigned part_threads = fidelity_part_segments * side_by_side;
  static constexpr unsigned threads = ItemPolicy::threads;
  static constexpr unsigned window_threads = 128;
  static constexpr unsigned blocks_of_multiprocessor = 8;  ///< for grid-stride loops
  static constexpr std::uint64_t plane_piece = 1 << 14;    ///< points per thread block
};

struct Sums {
  static constexpr int slower_axes = Dims::max_rank - 1;
  static constexpr int fastest = slower_axes;

  PairSums neighbours[Dims::max_rank];  ///< along the axis before the fastest, and so on
  PairSums before;                      ///< with the previous segment in the row
  double error = 0;
  FidelityCounts counts;
};

template <class T>
__device__ Sums sums_of_lane(const FidelityCuts& cuts, const FidelitySegment& segment,
                             const ComparedValues<T>& values, unsigned lane) {
  std::uint64_t back[Sums::slower_axes];  // to the neighbour along each axis; 0: none
  std::uint64_t index = segment.row;
  std::uint64_t stride = cuts.width;
  for (int k = 0; k < Sums::slower_axes; ++k) {
    const std::uint64_t extent = k < cuts.rank - 1 ? cuts.extents[cuts.rank - 2 - k] : 1;
    back[k] = index % extent != 0 ? stride : 0;
    index /= extent;
    stride *= extent;
  }
  Sums sums;
  for (std::uint64_t i = lane; i < segment.count; i += side_by_side) {
    const std::uint64_t point = segment.first + i;
    const CountedError here = values.error(point);
    const T was = values.original[point];
    sums.counts.add(was, values.restored[point], values.missing(was), here.counts != 0);
    sums.error += here.error;
#pragma unroll
    for (int k = 0; k < Sums::slower_axes; ++k) {
      if (back[k] != 0) sums.neighbours[k].add(pair_of(values.error(point - back[k]), here));
    }
    if (i + 1 < segment.count) {
      sums.neighbours[Sums::fastest].add(pair_of(here, values.error(point + 1)));
    }
  }
  return sums;
}

/// Sequential over the lanes of a segment.
__device__ double over_lanes(double sum) {
  double total = 0;
  for (unsigned lane = 0; lane < side_by_side; ++lane)
    total += __shfl_sync(~0U, sum, lane, side_by_side);
  return total;
}
__device__ std::uint64_t over_lanes(std::uint64_t count) {
  for (unsigned apart = side_by_side / 2; apart > 0; apart /= 2) {
    count += __shfl_xor_sync(~0U, count, apart, side_by_side);
  }
  return count;
}
__device__ PairSums over_lanes(const PairSums& sums) {
  return {over_lanes(sums.pairs), over_lanes(sums.x),  over_lanes(sums.y),
          over_lanes(sums.xx),    over_lanes(sums.yy), over_lanes(sums.xy)};
}
__device__ FidelityCounts over_lanes(const FidelityCounts& counts) {
  return {over_lanes(counts.points),       over_lanes(counts.missing),
          over_lanes(counts.missing_kept), over_lanes(counts.zeros),
          over_lanes(counts.zeros_kept),   over_lanes(counts.negative),
          over_lanes(counts.made_negative)};
}

/// One thread block per part, eight threads per segment.
template <class T>
__global__ void __launch_bounds__(FidelityPolicy::part_threads)
    sum_parts(const __grid_constant__ FidelityCuts cuts,
              const __grid_constant__ ComparedValues<T> values, Sums* parts) {
  __shared__ Sums segments[fidelity_part_segments];
  const unsigned own = threadIdx.x / side_by_side;
  const unsigned lane = threadIdx.x % side_by_side;
  const std::uint64_t number = std::uint64_t{blockIdx.x} * fidelity_part_segments + own;
  Sums sums;
  if (number < cuts.segments) {
    const FidelitySegment segment(cuts, number);
    sums = sums_of_lane(cuts, segment, values, lane);
    if (segment.at != 0 && lane == 0) {
      sums.before = pair_of(values.error(segment.first - 1), values.error(segment.first));
    }
  }
  __syncwarp();
#pragma unroll
  for (PairSums& pairs : sums.neighbours) pairs = over_lanes(pairs);
  sums.error = over_lanes(sums.error);
  sums.counts = over_lanes(sums.counts);
  if (lane == 0) segments[own] = sums;
  __syncthreads();

  Sums& part = parts[blockIdx.x];
  if (threadIdx.x < Dims::max_rank) {
    PairSums total;
    for (const Sums& segment : segments) {
      total.add(segment.neighbours[threadIdx.x]);
      if (threadIdx.x == Sums::fastest) total.add(segment.before);
    }
    part.neighbours[threadIdx.x] = total;
  } else if (threadIdx.x == Dims::max_rank) {
    double error = 0;
    FidelityCounts counts;
    for (const Sums& segment : segments) {
      error += segment.error;
      counts.add(segment.counts);
    }
    part.error = error;
    part.counts = counts;
  }
}

template <class Value, class Pick>
__device__ Value over_warp(Value value, const Pick& pick) {
  for (unsigned apart = 16; apart > 0; apart /= 2) {
    value = pick(value, __shfl_xor_sync(~0U, value, apart));
  }
  return value;
}

/// Bits of nonnegative doubles are ordered like their values.
template <class T>
__global__ void __launch_bounds__(FidelityPolicy::threads)
    find_largest_error(const __grid_constant__ ComparedValues<T> values, std::uint64_t points,
                       unsigned long long* largest) {
  double most = 0;
  for (std::uint64_t i = ItemPolicy::first(); i < points; i += ItemPolicy::step()) {
    if (values.counts(i)) most = fmax(most, fabs(values.half_error(i)));
  }
  __syncwarp();
  most = over_warp(most, [](double a, double b) { return fmax(a, b); });
  if (threadIdx.x % 32 == 0) {
    atomicMax(largest, __builtin_bit_cast(unsigned long long, most));
  }
}

/// Thread blocks take pieces of planes.
template <class T>
__global__ void __launch_bounds__(FidelityPolicy::threads)
    find_plane_ranges(const __grid_constant__ FidelityCuts cuts,
                      const __grid_constant__ ComparedValues<T> values, std::uint64_t pieces,
                      SharedExtremes* planes) {
  const std::uint64_t plane = blockIdx.x / pieces;
  const std::uint64_t start = blockIdx.x % pieces * FidelityPolicy::plane_piece;
  const std::uint64_t end = ::min(start + FidelityPolicy::plane_piece, cuts.plane_points());
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::uint64_t i = start + threadIdx.x; i < end; i += FidelityPolicy::threads) {
    const std::uint64_t point = plane * cuts.plane_points() + i;
    if (!values.counts(point)) continue;
    const double value = static_cast<double>(values.original[point]) / 2;
    low = fmin(low, value);
    high = fmax(high, value);
  }
  __syncwarp();
  low = over_warp(low, [](double a, double b) { return fmin(a, b); });
  high = over_warp(high, [](double a, double b) { return fmax(a, b); });
  if (threadIdx.x % 32 == 0 && low <= high) planes[plane].include(low, high);
}

struct Window {
  double similarity;
  bool counts;
};

/// One thread per window.
template <class T>
__global__ void __launch_bounds__(FidelityPolicy::window_threads)
    measure_windows(const __grid_constant__ FidelityCuts cuts,
                    const __grid_constant__ ComparedValues<T> values, const SharedExtremes* planes,
                    Window* windows) {
  const std::uint64_t own =
      std::uint64_t{blockIdx.x} * FidelityPolicy::window_threads + threadIdx.x;
  const std::uint64_t plane = own / cuts.windows_per_plane();
  if (plane >= cuts.planes) return;
  const SharedExtremes& extremes = planes[plane];
  Window window{0, false};
  if (extremes.any() && extremes.max() > extremes.min()) {
    const PlaneRange range{extremes.min(), extremes.max() - extremes.min()};
    const std::uint64_t first = cuts.first_of_window(plane, own % cuts.windows_per_plane());
    window.counts = values.window(first, cuts.plane_width, range, window.similarity);
  }
  windows[own] = window;
}

struct PlaneSum {
  double similarity;
  std::uint64_t windows;
};

/// One warp per plane; all lanes compute the same sequential sum.
__global__ void __launch_bounds__(FidelityPolicy::threads)
    sum_windows(const __grid_constant__ FidelityCuts cuts, const Window* windows, PlaneSum* sums) {
  const std::uint64_t plane = ItemPolicy::first() / 32;
  if (plane >= cuts.planes) return;
  const std::uint64_t count = cuts.windows_per_plane();
  const unsigned lane = threadIdx.x % 32;
  PlaneSum sum{0, 0};
  for (std::uint64_t start = 0; start < count; start += 32) {
    const Window own =
        start + lane < count ? windows[plane * count + start + lane] : Window{0, false};
    const unsigned counted = __ballot_sync(~0U, own.counts);
    for (unsigned i = 0; i < 32; ++i) {
      const double similarity = __shfl_sync(~0U, own.similarity, i);
      if ((counted >> i & 1) != 0) sum.similarity += similarity;
    }
    sum.windows += __popc(counted);
  }
  if (lane == 0) sums[plane] = sum;
}

template <class T>
int find_exponent(DeviceContext& gpu, const ComparedValues<T>& values, std::uint64_t points) {
  auto* const largest = gpu.take_zeroed<unsigned long long>(1);
  launch_in_turn(gpu, "find_largest_error", points, FidelityPolicy::blocks_of_multiprocessor,
                 find_largest_error<T>, values, points, largest);
  const auto& found = *download(gpu, largest, 1);
  gpu.sync();
  return fidelity_exponent(std::bit_cast<double>(found));
}

template <class T>
std::span<const Sums> start_parts(DeviceContext& gpu, const FidelityCuts& cuts,
                                  const ComparedValues<T>& values) {
  const std::uint64_t count = ceil_div(cuts.segments, fidelity_part_segments);
  auto* const parts = gpu.take<Sums>(count);
  sum_parts<<<grid_of(count), FidelityPolicy::part_threads, 0, gpu.stream()>>>(cuts, values, parts);
  check_launch("sum_parts");
  return {download(gpu, parts, count), count};
}

template <class T>
std::span<const PlaneSum> start_planes(DeviceContext& gpu, const FidelityCuts& cuts,
                                       const ComparedValues<T>& values) {
  if (cuts.planes == 0) return {};
  const std::uint64_t pieces = ceil_div(cuts.plane_points(), FidelityPolicy::plane_piece);
  const std::uint64_t windows = cuts.planes * cuts.windows_per_plane();
  auto* const ranges = gpu.take_zeroed<SharedExtremes>(cuts.planes);
  find_plane_ranges<<<grid_of(cuts.planes * pieces), FidelityPolicy::threads, 0, gpu.stream()>>>(
      cuts, values, pieces, ranges);
  check_launch("find_plane_ranges");
  auto* const measured = gpu.take<Window>(windows);
  measure_windows<<<blocks_for(windows, FidelityPolicy::window_threads),
                    FidelityPolicy::window_threads, 0, gpu.stream()>>>(cuts, values, ranges,
                                                                       measured);
  check_launch("measure_windows");
  auto* const sums = gpu.take<PlaneSum>(cuts.planes);
  launch_items(gpu, "sum_windows", cuts.planes * 32, sum_windows, cuts, measured, sums);
  return {download(gpu, sums, cuts.planes), cuts.planes};
}

Fidelity fidelity_of(const Sums& sums, int rank) {
  Fidelity part;
  static_cast<FidelityCounts&>(part) = sums.counts;
  part.error_sum = sums.error;
  for (int axis = 0; axis < rank; ++axis) {
    part.neighbours[static_cast<std::size_t>(axis)] =
        sums.neighbours[axis == rank - 1 ? Sums::fastest : rank - 2 - axis];
  }
  return part;
}

Fidelity fidelity_of(const PlaneSum& plane) {
  Fidelity part;
  part.ssim_sum = plane.similarity;
  part.ssim_windows = plane.windows;
  return part;
}

/// Errors are in units of 2^exponent.
template <class Parts, class Make>
Fidelity merged(const Parts& parts, int exponent, const Make& make) {
  Fidelity whole;
  whole.exponent = exponent;
  for (const auto& one : parts) {
    Fidelity part = make(one);
    part.exponent = exponent;
    whole.merge(part);
  }
  return whole;
}

template <class T>
Fidelity measure(DeviceContext& gpu, const Dims& dims, ComparedValues<T> values) {
  const FidelityCuts cuts(dims);
  const int exponent = find_exponent(gpu, values, cuts.points);
  values.set_exponent(exponent);
  const std::span<const Sums> parts = start_parts(gpu, cuts, values);
  const std::span<const PlaneSum> planes = start_planes(gpu, cuts, values);
  gpu.sync();
  Fidelity whole =
      merged(parts, exponent, [&](const Sums& sums) { return fidelity_of(sums, cuts.rank); });
  if (!planes.empty()) {
    whole.merge(merged(planes, exponent, [](const PlaneSum& plane) { return fidelity_of(plane); }));
  }
  return whole;
}

}  // namespace

Fidelity measure_fidelity(DeviceContext& gpu, const FrameShape& shape, Bytes original,
                          Bytes restored, const FillValues& fills) {
  return with_type_of(shape.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto values = [](Bytes bytes) { return reinterpret_cast<const T*>(bytes.data()); };
    return measure<T>(gpu, shape.dims, {values(original), values(restored), MissingTest<T>(fills)});
  });
}

}  // namespace cuszi::gpu

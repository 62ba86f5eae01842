#include <algorithm>

#include "gpu/field/frame_work.cuh"
#include "gpu/field/histogram.cuh"
#include "gpu/lorenzo/lorenzo.cuh"
#include "gpu/lorenzo/lorenzo_runs.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

/// Replaces missing points by the last valid value in the chunk's row, else `before`.
template <class Shape, class Int>
__device__ Int fill_missing(Int integer, bool present, unsigned lane, Int before) {
  const unsigned group =
      Shape::width == 32 ? ~0U : ((1U << Shape::width % 32) - 1) << (lane & ~(Shape::width - 1U));
  const unsigned candidates = __ballot_sync(~0U, present) & group & (~0U >> (31 - lane));
  const int source = candidates == 0 ? 0 : 31 - __clz(static_cast<int>(candidates));
  const Int filled = __shfl_sync(~0U, integer, source);
  return candidates == 0 ? before : filled;
}

/// A lane per point of a row. `Int` must hold all sums; see fits_32_bits().
template <class T, class Int, class Shape, bool Masked>
__global__ void __launch_bounds__(LorenzoPolicy::threads)
    encode_chunks(const __grid_constant__ LorenzoFrame<T> frame, const T* values, QuantCode* codes,
                  ExceptionSets exceptions) {
  const Extents3& e = frame.extents;
  const Lane<Shape> at(e);
  if (!at.inside) return;
  Int plane[Shape::rows] = {};  // differences along x and y in the previous slice
  for (int z = 0; z < Shape::slices; ++z) {
    if (at.first[0] + z >= e[0]) return;
    const std::uint64_t start = ((at.first[0] + z) * e[1] + at.y(0)) * e[2] + at.x(0);
    const std::uint64_t row_stride = Shape::is_line ? 32 : e[2];
    T value[Shape::rows] = {};
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      if (at.y(row) < e[1] && at.x(row) < e[2]) value[row] = values[start + row * row_stride];
    }
    Int above = 0;  // differences along x in the previous row
    Int carry = 0;  // last integer of the line's previous part
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      const bool inside = at.y(row) < e[1] && at.x(row) < e[2];
      const std::uint64_t point = start + row * row_stride;
      const Prequantised q = prequantise(static_cast<double>(value[row]), frame.inverse_step);
      auto integer = static_cast<Int>(q.value);
      const bool present = inside && !(Masked && frame.missing.test(point));
      const T restored = dequantise<T>(integer, frame.step, frame.min, frame.max);
      const bool certain = q.in_range && magnitude_of(value[row] - restored) < frame.certain &&
                           !frame.zone.has(value[row]);
      if (present && !certain) {
        if (!q.in_range || !may_restore_to(value[row], restored, frame.bound, frame.rules))
          exceptions.add_patch(point);
      }
      if constexpr (Masked) integer = fill_missing<Shape>(integer, present, at.lane, carry);
      Int left = __shfl_up_sync(~0U, integer, 1);
      if (at.lane % Shape::width == 0) left = carry;
      const Int along_x = integer - left;
      if constexpr (Shape::is_line) carry = __shfl_sync(~0U, integer, 31);
      const Int along_y = Shape::is_line ? along_x : along_x - above;
      above = along_x;
      const Int delta = along_y - plane[row];
      plane[row] = along_y;
      if (inside) {
        const QuantCode code = code_of_delta(delta, frame.radius);
        codes[point] = code;
        if (code == outlier_code) exceptions.add_outlier(point);
      }
    }
    if constexpr (Shape::is_line) break;
  }
}

/// Recomputes deltas of outliers.
template <class T>
struct DeltaAt {
  LorenzoFrame<T> frame;
  const T* values;

  __device__ std::int64_t integer_at(const Extents3& at) const {
    std::uint64_t point = point_at(at, frame.extents);
    for (std::uint64_t left = at[2] % frame.chunk[2]; frame.missing.words != nullptr;
         --left, --point) {
      if (!frame.missing.test(point)) break;
      if (left == 0) return 0;
    }
    return prequantise(static_cast<double>(values[point]), frame.inverse_step).value;
  }

  __device__ std::uint64_t operator()(std::uint64_t point) const {
    const Extents3 at = coordinates_of(point, frame.extents);
    std::int64_t delta = 0;
    for_lorenzo_points(at, frame.chunk, [&](const Extents3& from, bool is_subtracted) {
      delta += is_subtracted ? -integer_at(from) : integer_at(from);
    });
    return zigzag(delta);
  }
};

/// Chunk shapes that no encoder makes: one thread block each, sums in global memory.
template <class T>
__global__ void decode_any_chunk(LorenzoFrame<T> frame, Extents3 grid, const QuantCode* codes,
                                 SparseView outliers, std::uint64_t* sums, T* values) {
  Extents3 first = coordinates_of(blockIdx.x, grid);
  Extents3 size{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    first[axis] *= frame.chunk[axis];
    const std::uint64_t left = frame.extents[axis] - first[axis];
    size[axis] = left < frame.chunk[axis] ? left : frame.chunk[axis];
  }
  const std::uint64_t start = point_at(first, frame.extents);
  const std::uint64_t points = count_of(size);
  const auto point_of = [&](std::uint64_t i) {
    return start + point_at(coordinates_of(i, size), frame.extents);
  };
  for (std::uint64_t i = threadIdx.x; i < points; i += blockDim.x) {
    const std::uint64_t point = point_of(i);
    sums[point] = static_cast<std::uint64_t>(delta_at(frame, outliers, codes[point], point));
  }
  const Extents3 strides{frame.extents[1] * frame.extents[2], frame.extents[2], 1};
  for (unsigned axis = 0; axis < 3; ++axis) {
    __syncthreads();
    Extents3 lines = size;
    lines[axis] = 1;
    for (std::uint64_t i = threadIdx.x; i < count_of(lines); i += blockDim.x) {
      std::uint64_t* const line = sums + start + point_at(coordinates_of(i, lines), frame.extents);
      for (std::uint64_t j = 1; j < size[axis]; ++j)
        line[j * strides[axis]] += line[(j - 1) * strides[axis]];
    }
  }
  __syncthreads();
  for (std::uint64_t i = threadIdx.x; i < points; i += blockDim.x) {
    const std::uint64_t point = point_of(i);
    values[point] =
        dequantise<T>(static_cast<std::int64_t>(sums[point]), frame.step, frame.min, frame.max);
  }
}

[[noreturn]] void refuse_chunks() {
  throw DeviceError("the GPU makes Lorenzo chunks of 256, 16x16 and 8x8x8 only");
}

/// More small tiles per warp, if enough warps remain.
template <class Shape>
std::uint32_t tiles_per_warp(const Device& device, std::uint64_t tiles) {
  constexpr std::uint64_t tile_points = Shape::warp_width * Shape::rows * Shape::slices;
  constexpr std::uint64_t most = LorenzoPolicy::most_warp_points / tile_points;
  const std::uint64_t enough = device.multiprocessors * LorenzoPolicy::warps_of_multiprocessor;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(tiles / enough, 1, std::max<std::uint64_t>(most, 1)));
}

/// Empty if the frame does not allow runs.
template <class T>
std::span<const std::uint64_t> launch_runs(DeviceContext& gpu, const LorenzoFrame<T>& frame,
                                           const T* values, QuantCode* codes,
                                           const ExceptionSets& exceptions) {
  const auto codes_made = 2 * static_cast<std::uint32_t>(frame.radius);
  const bool plain = frame.missing.words == nullptr && frame.fits_32_bits();
  if (!plain || frame.certain_fraction < 0.49 || codes_made > CodeBins::most) return {};
  const CodeBins bins = CodeBins::make(gpu, codes_made);
  const bool known = with_shape<run_points<T>>(frame.chunk, [&](auto shape) {
    with_flag(allows_runs(frame.extents, values, codes), [&](auto vector) {
      using Shape = decltype(shape);
      const std::uint64_t tiles = warp_tiles<Shape>(frame.extents);
      const std::uint32_t each = tiles_per_warp<Shape>(gpu.device(), tiles);
      encode_runs<T, Shape, vector.value>
          <<<blocks_for(tiles, LorenzoPolicy::warps * each), LorenzoPolicy::threads,
             bins.shared_bytes(), gpu.stream()>>>(frame, each, values, codes, exceptions, bins);
    });
  });
  if (!known) refuse_chunks();
  check_launch("encode_runs");
  return bins.counts();
}

template <class T>
void launch_encode(DeviceContext& gpu, const LorenzoFrame<T>& frame, const T* values,
                   QuantCode* codes, const ExceptionSets& exceptions) {
  const bool known = with_shape<1>(frame.chunk, [&](auto shape) {
    with_flag(frame.fits_32_bits(), [&](auto narrow) {
      with_flag(frame.missing.words != nullptr, [&](auto masked) {
        using Shape = decltype(shape);
        using Int = std::conditional_t<narrow.value, std::int32_t, std::int64_t>;
        encode_chunks<T, Int, Shape, masked.value>
            <<<blocks_for(warp_tiles<Shape>(frame.extents), LorenzoPolicy::warps),
               LorenzoPolicy::threads, 0, gpu.stream()>>>(frame, values, codes, exceptions);
      });
    });
  });
  if (!known) refuse_chunks();
  check_launch("encode_chunks");
}

template <class T>
void launch_decode(DeviceContext& gpu, const LorenzoFrame<T>& frame, const QuantCode* codes,
                   const SparseView& outliers, T* values) {
  const bool known = with_shape<run_points<T>>(frame.chunk, [&](auto shape) {
    with_flag(frame.fits_32_bits(), [&](auto narrow) {
      with_flag(allows_runs(frame.extents, values, codes), [&](auto vector) {
        using Shape = decltype(shape);
        using UInt = std::conditional_t<narrow.value, std::uint32_t, std::uint64_t>;
        decode_runs<T, UInt, Shape, vector.value>
            <<<blocks_for(warp_tiles<Shape>(frame.extents), LorenzoPolicy::warps),
               LorenzoPolicy::threads, 0, gpu.stream()>>>(frame, codes, outliers, values);
      });
    });
  });
  if (!known) {
    Extents3 grid{};
    for (unsigned axis = 0; axis < 3; ++axis)
      grid[axis] = ceil_div(frame.extents[axis], frame.chunk[axis]);
    auto* const sums = gpu.take<std::uint64_t>(count_of(frame.extents));
    decode_any_chunk<<<grid_of(count_of(grid)), LorenzoPolicy::any_chunk_threads, 0,
                       gpu.stream()>>>(frame, grid, codes, outliers, sums, values);
  }
  check_launch("decode_runs");
}

}  // namespace

template <class T>
StartedPrediction start_prediction(DeviceContext& gpu, const LorenzoParams& params, double bound,
                                   const FrameInput<T>& frame, QuantCode* codes) {
  const std::uint64_t points = count_of(frame.extents);
  const LorenzoFrame<T> lorenzo(params, bound, frame.extents, frame.min, frame.max, frame.missing,
                                frame.rules);
  const ExceptionSets exceptions = make_exceptions(gpu, points, true);
  auto histogram = launch_runs(gpu, lorenzo, frame.values, codes, exceptions);
  if (histogram.empty()) {
    launch_encode(gpu, lorenzo, frame.values, codes, exceptions);
    histogram = count_symbols(gpu, codes, points, 2 * params.radius);
  }
  const PassCounts* const counts = download(gpu, exceptions.counts, 1);
  return {histogram, [=, &gpu, values = frame.values] {
            Predicted result;
            result.histogram = histogram;
            result.counts = *counts;
            result.outliers = encode_sparse(gpu, exceptions.outliers, counts->outliers,
                                            DeltaAt<T>{lorenzo, values});
            result.patches =
                encode_sparse(gpu, exceptions.patches, counts->patches, BitsAt<T>{values});
            return result;
          }};
}

template <class T>
void reconstruct(DeviceContext& gpu, const LorenzoParams& params, const QuantCode* codes,
                 const Sections& /*sections*/, const ExceptionLists& exceptions,
                 const FrameOutput<T>& frame) {
  constexpr double no_bound = 0;
  const LorenzoFrame<T> lorenzo(params, no_bound, frame.extents, frame.min, frame.max,
                                frame.missing);
  launch_decode(gpu, lorenzo, codes, exceptions.outliers, frame.values);
  if (exceptions.patches.bits.words == nullptr) return;
  for_each_bit(gpu, exceptions.patches.bits,
               [list = exceptions.patches, values = frame.values] __device__(std::uint64_t point,
                                                                             std::uint64_t rank) {
                 values[point] = value_of<T>(list.value(rank));
               });
}

template StartedPrediction start_prediction(DeviceContext&, const LorenzoParams&, double,
                                            const FrameInput<float>&, QuantCode*);
template StartedPrediction start_prediction(DeviceContext&, const LorenzoParams&, double,
                                            const FrameInput<double>&, QuantCode*);
template void reconstruct(DeviceContext&, const LorenzoParams&, const QuantCode*, const Sections&,
                          const ExceptionLists&, const FrameOutput<float>&);
template void reconstruct(DeviceContext&, const LorenzoParams&, const QuantCode*, const Sections&,
                          const ExceptionLists&, const FrameOutput<double>&);

}  // namespace cuszi::gpu

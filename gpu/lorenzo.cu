#include <algorithm>
#include <cmath>

#include "gpu/histogram.cuh"
#include "gpu/lorenzo.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned warps = 4;
constexpr unsigned threads = 32 * warps;

/// What all points of a frame share.
template <class T>
struct LorenzoFrame {
  Extents3 extents;
  Extents3 chunk;
  double step;
  double inverse_step;
  double bound;
  T certain;
  T min;
  T max;
  std::int32_t radius;
  RankedBits missing;
  MissingTest<T> fills;

  LorenzoFrame(const LorenzoParams& params, double absolute_bound, const Extents3& e, double low,
               double high, const RankedBits& missing_points, const MissingTest<T>& near_fills = {})
      : extents(e),
        chunk(params.chunk),
        step(2 * params.half_step),
        inverse_step(1 / step),
        bound(absolute_bound),
        certain(certainly_within(absolute_bound, near_fills)),
        min(static_cast<T>(low)),
        max(static_cast<T>(high)),
        radius(static_cast<std::int32_t>(params.radius)),
        missing(missing_points),
        fills(near_fills) {}

  /// Whether the integers of all values, and sums of eight, stay within 32 bits.
  bool fits_32_bits() const {
    const double largest =
        std::max(std::fabs(static_cast<double>(min)), std::fabs(static_cast<double>(max)));
    return largest * inverse_step < 1 << 27;
  }
};

/// The shape in which a warp walks a chunk: rows of 32 points along x, each of one or more chunks;
/// or, in one dimension, the consecutive parts of one chunk.
template <int Slices, int Rows, int Width>
struct ChunkShape {
  static constexpr int slices = Slices;
  static constexpr bool is_line = Width > 32;
  static constexpr int rows = is_line ? Width / 32 : Rows;
  static constexpr int width = is_line ? 32 : Width;
  static constexpr std::uint64_t warp_width = is_line ? Width : 32;

  static bool matches(const Extents3& chunk) {
    return chunk == Extents3{Slices, is_line ? 1 : Rows, Width};
  }
};
using Cubes = ChunkShape<8, 8, 8>;
using Squares = ChunkShape<1, 16, 16>;
using Lines = ChunkShape<1, 1, 256>;

/// Where a lane of a warp works.
template <class Shape>
struct Lane {
  Extents3 first;
  unsigned lane = threadIdx.x % 32;
  bool inside;  ///< the warp has points at all

  __device__ explicit Lane(const Extents3& extents) {
    const std::uint64_t rows = Shape::is_line ? 1 : Shape::rows;
    const auto tiles_x =
        static_cast<std::uint32_t>((extents[2] + Shape::warp_width - 1) / Shape::warp_width);
    const auto tiles_y = static_cast<std::uint32_t>((extents[1] + rows - 1) / rows);
    const std::uint32_t warp = blockIdx.x * warps + threadIdx.x / 32;
    const std::uint32_t line = warp / tiles_x;
    first = {std::uint64_t{line / tiles_y} * Shape::slices, line % tiles_y * rows,
             warp % tiles_x * Shape::warp_width};
    inside = first[0] < extents[0];
  }

  __device__ std::uint64_t x(int row) const {
    return first[2] + (Shape::is_line ? static_cast<unsigned>(row) * 32 : 0) + lane;
  }
  __device__ std::uint64_t y(int row) const {
    return first[1] + (Shape::is_line ? 0 : static_cast<unsigned>(row));
  }
};

template <class Shape>
unsigned warp_blocks(const Extents3& extents) {
  const std::uint64_t rows = Shape::is_line ? 1 : Shape::rows;
  const std::uint64_t tiles = ceil_div(extents[2], Shape::warp_width) * ceil_div(extents[1], rows) *
                              ceil_div(extents[0], Shape::slices);
  constexpr std::uint64_t most_tiles = ~std::uint32_t{0} - warps;  // which lanes count
  if (tiles > most_tiles) grid_of(tiles);
  return blocks_for(tiles, warps);
}

/// The value at a masked lane: that of the last lane of its chunk's row which is not, else
/// `before`.
template <class Shape, class Int>
__device__ Int fill_missing(Int integer, bool present, unsigned lane, Int before) {
  const unsigned group =
      Shape::width == 32 ? ~0U : ((1U << Shape::width % 32) - 1) << (lane & ~(Shape::width - 1U));
  const unsigned candidates = __ballot_sync(~0U, present) & group & (~0U >> (31 - lane));
  const int source = candidates == 0 ? 0 : 31 - __clz(static_cast<int>(candidates));
  const Int filled = __shfl_sync(~0U, integer, source);
  return candidates == 0 ? before : filled;
}

/// Integers of 32 or 64 bits: `Int` holds all sums that matter (see fits_32_bits).
template <class T, class Int, class Shape, bool Masked>
__global__ void __launch_bounds__(threads)
    encode_chunks(const __grid_constant__ LorenzoFrame<T> frame, const T* values, QuantCode* codes,
                  ExceptionSets exceptions) {
  const Extents3& e = frame.extents;
  const Lane<Shape> at(e);
  if (!at.inside) return;
  Int plane[Shape::rows] = {};  // differences along x and y of the slice before
  for (int z = 0; z < Shape::slices; ++z) {
    if (at.first[0] + z >= e[0]) return;
    const std::uint64_t start = ((at.first[0] + z) * e[1] + at.y(0)) * e[2] + at.x(0);
    const std::uint64_t row_stride = Shape::is_line ? 32 : e[2];
    T value[Shape::rows] = {};
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      if (at.y(row) < e[1] && at.x(row) < e[2]) value[row] = values[start + row * row_stride];
    }
    Int above = 0;  // differences along x of the row before
    Int carry = 0;  // of a line's part before: its last integer
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      const bool inside = at.y(row) < e[1] && at.x(row) < e[2];
      const std::uint64_t point = start + row * row_stride;
      const Prequantised q = prequantise(static_cast<double>(value[row]), frame.inverse_step);
      auto integer = static_cast<Int>(q.value);
      const bool present = inside && !(Masked && frame.missing.test(point));
      const T restored = dequantise<T>(integer, frame.step, frame.min, frame.max);
      const bool certain = q.in_range && magnitude_of(value[row] - restored) < frame.certain;
      if (present && !certain) {
        if (!q.in_range || !may_restore_to(value[row], restored, frame.bound, frame.fills))
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

/// Prediction errors one by one: for the few points whose codes do not reach them.
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
    for (unsigned corner = 0; corner < 8; ++corner) {
      Extents3 from = at;
      bool inside = true;
      for (unsigned axis = 0; axis < 3; ++axis) {
        if (((corner >> axis) & 1U) == 0) continue;
        if (at[axis] % frame.chunk[axis] == 0)
          inside = false;
        else
          --from[axis];
      }
      if (inside) delta += __popc(corner) % 2 == 0 ? integer_at(from) : -integer_at(from);
    }
    return zigzag(delta);
  }
};

/// The partial sum over a warp's lanes within each row of a chunk.
template <class Shape, class Int>
__device__ Int sum_along_x(Int sum, unsigned lane) {
#pragma unroll
  for (unsigned distance = 1; distance < Shape::width; distance *= 2) {
    const Int left = __shfl_up_sync(~0U, sum, distance);
    if (lane % Shape::width >= distance) sum += left;
  }
  return sum;
}

/// The delta that a code or, in its place, an outlier stands for.
template <class T>
__device__ std::int64_t delta_at(const LorenzoFrame<T>& frame, const SparseView& outliers,
                                 QuantCode code, std::uint64_t point) {
  return code != outlier_code ? delta_of_code(code, frame.radius) : unzigzag(outliers.find(point));
}

/// Sums in unsigned integers, which wrap: those of a damaged archive may leave any range.
template <class T, class UInt, class Shape>
__global__ void __launch_bounds__(threads)
    decode_chunks(LorenzoFrame<T> frame, const QuantCode* codes, SparseView outliers, T* values) {
  const Extents3& e = frame.extents;
  const Lane<Shape> at(e);
  if (!at.inside) return;
  UInt plane[Shape::rows] = {};
  for (int z = 0; z < Shape::slices; ++z) {
    if (at.first[0] + z >= e[0]) return;
    const std::uint64_t start = ((at.first[0] + z) * e[1] + at.y(0)) * e[2] + at.x(0);
    const std::uint64_t row_stride = Shape::is_line ? 32 : e[2];
    QuantCode code[Shape::rows] = {};
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      if (at.y(row) < e[1] && at.x(row) < e[2]) code[row] = codes[start + row * row_stride];
    }
    UInt above = 0;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      const bool inside = at.y(row) < e[1] && at.x(row) < e[2];
      const std::uint64_t point = start + row * row_stride;
      const auto delta =
          static_cast<UInt>(inside ? delta_at(frame, outliers, code[row], point) : 0);
      UInt sum = sum_along_x<Shape>(delta, at.lane) + above;
      above = Shape::is_line ? __shfl_sync(~0U, sum, 31) : sum;
      sum += plane[row];
      plane[row] = sum;
      if (inside) {
        const auto integer = static_cast<std::make_signed_t<UInt>>(sum);
        values[point] = dequantise<T>(integer, frame.step, frame.min, frame.max);
      }
    }
    if constexpr (Shape::is_line) break;
  }
}

/// Chunks of any other shape: a thread block each, sums in global memory. No encoder makes them.
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

/// Calls f with the shape of the chunks; false if they have none of the encoder's.
template <class F>
bool with_shape(const Extents3& chunk, const F& f) {
  if (Cubes::matches(chunk))
    f(Cubes{});
  else if (Squares::matches(chunk))
    f(Squares{});
  else if (Lines::matches(chunk))
    f(Lines{});
  else
    return false;
  return true;
}

template <class T>
void launch_encode(Work& work, const LorenzoFrame<T>& frame, const T* values, QuantCode* codes,
                   const ExceptionSets& exceptions) {
  const bool known = with_shape(frame.chunk, [&](auto shape) {
    with_flag(frame.fits_32_bits(), [&](auto narrow) {
      with_flag(frame.missing.words != nullptr, [&](auto masked) {
        using Shape = decltype(shape);
        using Int = std::conditional_t<narrow.value, std::int32_t, std::int64_t>;
        encode_chunks<T, Int, Shape, masked.value>
            <<<warp_blocks<Shape>(frame.extents), threads, 0, work.stream()>>>(frame, values, codes,
                                                                               exceptions);
      });
    });
  });
  if (!known) throw DeviceError("the GPU makes Lorenzo chunks of 256, 16x16 and 8x8x8 only");
  check_launch("encode_chunks");
}

template <class T>
void launch_decode(Work& work, const LorenzoFrame<T>& frame, const QuantCode* codes,
                   const SparseView& outliers, T* values) {
  const bool known = with_shape(frame.chunk, [&](auto shape) {
    with_flag(frame.fits_32_bits(), [&](auto narrow) {
      using Shape = decltype(shape);
      using UInt = std::conditional_t<narrow.value, std::uint32_t, std::uint64_t>;
      decode_chunks<T, UInt, Shape>
          <<<warp_blocks<Shape>(frame.extents), threads, 0, work.stream()>>>(frame, codes, outliers,
                                                                             values);
    });
  });
  if (!known) {
    Extents3 grid{};
    for (unsigned axis = 0; axis < 3; ++axis)
      grid[axis] = ceil_div(frame.extents[axis], frame.chunk[axis]);
    auto* const sums = work.take<std::uint64_t>(count_of(frame.extents));
    decode_any_chunk<<<grid_of(count_of(grid)), 256, 0, work.stream()>>>(frame, grid, codes,
                                                                         outliers, sums, values);
  }
  check_launch("decode_chunks");
}

}  // namespace

template <class T>
Predicted predict_quantise(Work& work, const LorenzoParams& params, double bound,
                           const FrameInput<T>& frame, QuantCode* codes) {
  const std::uint64_t points = count_of(frame.extents);
  const LorenzoFrame<T> lorenzo(params, bound, frame.extents, frame.min, frame.max, frame.missing,
                                frame.fills);
  const ExceptionSets exceptions{make_bits(work, points), make_bits(work, points),
                                 work.take_zeroed<PassCounts>(1)};
  launch_encode(work, lorenzo, frame.values, codes, exceptions);
  const auto histogram = count_symbols(work, codes, points, 2 * params.radius);
  const PassCounts& counts = *work.download(exceptions.counts, 1);
  work.sync();

  Predicted result;
  result.histogram = histogram;
  result.counts = counts;
  result.outliers =
      encode_sparse(work, exceptions.outliers, counts.outliers, DeltaAt<T>{lorenzo, frame.values});
  result.patches = encode_sparse(
      work, exceptions.patches, counts.patches,
      [values = frame.values] __device__(std::uint64_t point) { return bits_of(values[point]); });
  return result;
}

template <class T>
void reconstruct(Work& work, const LorenzoParams& params, const QuantCode* codes,
                 const Sections& sections, const FrameOutput<T>& frame) {
  constexpr double no_bound = 0;
  const LorenzoFrame<T> lorenzo(params, no_bound, frame.extents, frame.min, frame.max,
                                frame.missing);
  const auto lists =
      decode_sparse(work, {sections.find(SectionId::outliers), sections.find(SectionId::patches)},
                    count_of(frame.extents));
  launch_decode(work, lorenzo, codes, lists[0], frame.values);
  if (lists[1].bits.words == nullptr) return;
  for_each_bit(
      work, lists[1].bits,
      [list = lists[1], values = frame.values] __device__(std::uint64_t point, std::uint64_t rank) {
        values[point] = value_of<T>(list.value(rank));
      });
}

template Predicted predict_quantise(Work&, const LorenzoParams&, double, const FrameInput<float>&,
                                    QuantCode*);
template Predicted predict_quantise(Work&, const LorenzoParams&, double, const FrameInput<double>&,
                                    QuantCode*);
template void reconstruct(Work&, const LorenzoParams&, const QuantCode*, const Sections&,
                          const FrameOutput<float>&);
template void reconstruct(Work&, const LorenzoParams&, const QuantCode*, const Sections&,
                          const FrameOutput<double>&);

}  // namespace cuszi::gpu

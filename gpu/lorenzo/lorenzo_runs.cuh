#pragma once

#include "gpu/field/histogram.cuh"
#include "gpu/lorenzo/lorenzo_frame.cuh"

namespace cuszi::gpu {

// Kernels with runs of neighbours along x per lane, in accesses of up to 16 bytes.

template <class T>
inline constexpr int run_points = 16 / sizeof(T);

/// For vector loads.
template <class Item, int count>
struct alignas(count * sizeof(Item)) Run {
  Item items[count];
};

template <bool vector, class Item, int count>
__device__ void load_run(const Item* from, int inside, Item (&items)[count]) {
  if constexpr (vector) {
    if (inside == 0) return;
    const auto run = *reinterpret_cast<const Run<Item, count>*>(from);
#pragma unroll
    for (int i = 0; i < count; ++i) items[i] = run.items[i];
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i)
      if (i < inside) items[i] = from[i];
  }
}

/// Vector stores; the compiler would split structs.
__device__ inline void store_whole(const QuantCode (&codes)[4], QuantCode* to) {
  const std::uint32_t low = codes[0] | static_cast<std::uint32_t>(codes[1]) << 16;
  const std::uint32_t high = codes[2] | static_cast<std::uint32_t>(codes[3]) << 16;
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(low), "r"(high) : "memory");
}
__device__ inline void store_whole(const QuantCode (&codes)[2], QuantCode* to) {
  *reinterpret_cast<std::uint32_t*>(to) = codes[0] | static_cast<std::uint32_t>(codes[1]) << 16;
}
__device__ inline void store_whole(const float (&values)[4], float* to) {
  *reinterpret_cast<float4*>(to) = make_float4(values[0], values[1], values[2], values[3]);
}
__device__ inline void store_whole(const double (&values)[2], double* to) {
  *reinterpret_cast<double2*>(to) = make_double2(values[0], values[1]);
}

template <bool vector, class Item, int count>
__device__ void store_run(const Item (&items)[count], int inside, Item* to) {
  if constexpr (vector) {
    if (inside != 0) store_whole(items, to);
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i)
      if (i < inside) to[i] = items[i];
  }
}

/// Adds patches of values beyond the bound. Not inlined: rare.
template <class T>
__device__ __noinline__ void resolve(const LorenzoFrame<T>& frame, const T* values,
                                     const ExceptionSets& exceptions, std::uint64_t point,
                                     int inside) {
  for (int i = 0; i < inside; ++i) {
    const T value = values[point + i];
    const auto integer = prequantise(static_cast<double>(value), frame.inverse_step).value;
    const T restored = dequantise<T>(integer, frame.step, frame.min, frame.max);
    if (!may_restore_to(value, restored, frame.bound, frame.rules)) exceptions.add_patch(point + i);
  }
}

/// Codes - 1, unchecked: out of range for outliers.
template <int run>
struct RunPlaces {
  std::uint32_t of[run];
};

/// Stores codes with outliers or outside the frame. Not inlined: rare.
template <int run>
__device__ __noinline__ void put_singly(RunPlaces<run> places, std::int32_t radius,
                                        std::uint64_t point, int inside, QuantCode* codes,
                                        const ExceptionSets& exceptions, std::uint32_t* bins) {
#pragma unroll
  for (int i = 0; i < run; ++i) {
    if (i >= inside) break;
    const auto delta = static_cast<std::int32_t>(places.of[i]) - (radius - 1);
    const QuantCode code = code_of_delta(delta, radius);
    codes[point + i] = code;
    atomicAdd(bins + code, 1U);
    if (code == outlier_code) exceptions.add_outlier(point + i);
  }
}

/// For frames without missing points whose integers fit 32 bits.
template <class T, class Shape, bool vector>
class RunEncoder {
  static constexpr int run = Shape::run;

 public:
  __device__ RunEncoder(const LorenzoFrame<T>& frame, const T* values, QuantCode* codes,
                        const ExceptionSets& exceptions, const CodeCounter& counter)
      : frame_(frame), values_(values), codes_(codes), exceptions_(exceptions), counter_(counter) {}

  __device__ void encode(const Lane<Shape>& at) {
    const Extents3& e = frame_.extents;
    std::int32_t plane[Shape::rows][run] = {};  // differences along x and y in the previous slice
#pragma unroll 1
    for (int z = 0; z < Shape::slices && at.first[0] + z < e[0]; ++z) {
      const std::uint64_t start = ((at.first[0] + z) * e[1] + at.y(0)) * e[2] + at.x(0);
      encode_slice(at, start, plane);
    }
  }

 private:
  __device__ void encode_slice(const Lane<Shape>& at, std::uint64_t start,
                               std::int32_t (&plane)[Shape::rows][run]) {
    const Extents3& e = frame_.extents;
    T value[Shape::rows][run] = {};
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      load_run<vector>(values_ + start + row * at.row_stride(e), at.points_inside(row, e),
                       value[row]);
    }
    std::int32_t above[run] = {};  // differences along x in the previous row
    std::int32_t carry = 0;        // last integer of the line's previous part
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      std::int32_t integer[run];
      const bool certain = quantise(value[row], integer);
      std::int32_t left = __shfl_up_sync(~0U, integer[run - 1], 1);
      if (at.lane % Shape::width == 0) left = carry;
      if constexpr (Shape::is_line) carry = __shfl_sync(~0U, integer[run - 1], 31);
      RunPlaces<run> places;
#pragma unroll
      for (int i = 0; i < run; ++i) {
        const std::int32_t along_x = integer[i] - (i == 0 ? left : integer[i - 1]);
        const std::int32_t along_y = Shape::is_line ? along_x : along_x - above[i];
        above[i] = along_x;
        places.of[i] = static_cast<std::uint32_t>(along_y - plane[row][i] + (frame_.radius - 1));
        plane[row][i] = along_y;
      }
      const int inside = at.points_inside(row, e);
      const std::uint64_t point = start + row * at.row_stride(e);
      if (inside != 0) put(places, point, inside);
      if (!certain) resolve(frame_, values_, exceptions_, point, inside);
    }
  }

  /// Returns whether all values are certainly within the bound.
  __device__ bool quantise(const T (&value)[run], std::int32_t (&integer)[run]) const {
    bool certain = true;
#pragma unroll
    for (int i = 0; i < run; ++i) {
      const double scaled = static_cast<double>(value[i]) * frame_.inverse_step;
      integer[i] = static_cast<std::int32_t>(nearest_integer(scaled));
      certain = certain & (distance_to_integer(scaled) < frame_.certain_fraction) &
                !frame_.zone.has(value[i]);
    }
    return certain;
  }

  __device__ void put(const RunPlaces<run>& places, std::uint64_t point, int inside) const {
    const auto reach = 2 * static_cast<std::uint32_t>(frame_.radius) - 1;
    bool usual = vector || inside == run;
#pragma unroll
    for (const std::uint32_t place : places.of) usual = usual & (place < reach);
    if (!usual) {
      put_singly(places, frame_.radius, point, inside, codes_, exceptions_, counter_.shared());
      return;
    }
    QuantCode code[run];
#pragma unroll
    for (int i = 0; i < run; ++i) code[i] = static_cast<QuantCode>(places.of[i] + 1);
    store_run<vector>(code, inside, codes_ + point);
#pragma unroll
    for (const std::uint32_t place : places.of) counter_.add(place + 1);
  }

  const LorenzoFrame<T>& frame_;
  const T* values_;
  QuantCode* codes_;
  const ExceptionSets& exceptions_;
  const CodeCounter& counter_;
};

extern __shared__ std::uint32_t shared_bins[];

/// `tiles` per warp: more codes per block's histogram.
template <class T, class Shape, bool vector>
__global__ void __launch_bounds__(LorenzoPolicy::threads)
    encode_runs(const __grid_constant__ LorenzoFrame<T> frame, std::uint32_t tiles, const T* values,
                QuantCode* codes, const __grid_constant__ ExceptionSets exceptions,
                const __grid_constant__ CodeBins bins) {
  const CodeCounter counter(bins, shared_bins);
  __syncthreads();
  RunEncoder<T, Shape, vector> encoder(frame, values, codes, exceptions, counter);
  for (std::uint32_t i = 0; i < tiles; ++i) {
    const Lane<Shape> at(frame.extents,
                         (blockIdx.x * tiles + i) * LorenzoPolicy::warps + threadIdx.x / 32);
    if (at.inside) encoder.encode(at);
  }
  counter.finish();
}

template <class Shape, class Int>
__device__ Int sum_before(Int own, unsigned lane) {
  Int sum = own;
#pragma unroll
  for (unsigned distance = 1; distance < Shape::width; distance *= 2) {
    const Int left = __shfl_up_sync(~0U, sum, distance);
    if (lane % Shape::width >= distance) sum += left;
  }
  return sum - own;
}

/// Not inlined: rare.
template <class T>
__device__ __noinline__ std::int64_t outlier_at(const SparseView& outliers, std::uint64_t point) {
  return unzigzag(outliers.find(point));
}

/// Unsigned sums, because those of damaged archives may overflow.
template <class T, class UInt, class Shape, bool vector>
__global__ void __launch_bounds__(LorenzoPolicy::threads)
    decode_runs(const __grid_constant__ LorenzoFrame<T> frame, const QuantCode* codes,
                const __grid_constant__ SparseView outliers, T* values) {
  constexpr int run = Shape::run;
  const Extents3& e = frame.extents;
  const Lane<Shape> at(e);
  if (!at.inside) return;
  UInt plane[Shape::rows][run] = {};
#pragma unroll 1
  for (int z = 0; z < Shape::slices && at.first[0] + z < e[0]; ++z) {
    const std::uint64_t start = ((at.first[0] + z) * e[1] + at.y(0)) * e[2] + at.x(0);
    QuantCode code[Shape::rows][run];
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
#pragma unroll
      for (int i = 0; i < run; ++i) code[row][i] = static_cast<QuantCode>(frame.radius);
      load_run<vector>(codes + start + row * at.row_stride(e), at.points_inside(row, e), code[row]);
    }
    UInt above[run] = {};
    UInt carry = 0;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      const std::uint64_t point = start + row * at.row_stride(e);
      UInt sum[run];
      bool outlier = false;
#pragma unroll
      for (int i = 0; i < run; ++i) {
        sum[i] = static_cast<UInt>(code[row][i]) - static_cast<UInt>(frame.radius);
        outlier = outlier | (code[row][i] == outlier_code);
      }
      if (outlier) {
#pragma unroll
        for (int i = 0; i < run; ++i) {
          if (code[row][i] == outlier_code)
            sum[i] = static_cast<UInt>(outlier_at<T>(outliers, point + i));
        }
      }
#pragma unroll
      for (int i = 1; i < run; ++i) sum[i] += sum[i - 1];
      const UInt before = sum_before<Shape>(sum[run - 1], at.lane) + carry;
      T value[run];
#pragma unroll
      for (int i = 0; i < run; ++i) {
        sum[i] += before + above[i];
        if constexpr (!Shape::is_line) above[i] = sum[i];
        sum[i] += plane[row][i];
        plane[row][i] = sum[i];
        value[i] = dequantise<T>(static_cast<std::make_signed_t<UInt>>(sum[i]), frame.step,
                                 frame.min, frame.max);
      }
      if constexpr (Shape::is_line) carry = __shfl_sync(~0U, sum[run - 1], 31);
      store_run<vector>(value, at.points_inside(row, e), values + point);
    }
  }
}

/// Whether rows of values and codes are aligned to runs.
template <class T>
bool allows_runs(const Extents3& extents, const T* values, const QuantCode* codes) {
  const auto aligned = [](const auto* pointer) {
    constexpr auto size = run_points<T> * sizeof *pointer;
    return reinterpret_cast<std::uintptr_t>(pointer) % size == 0;
  };
  return extents[2] % run_points<T> == 0 && aligned(values) && aligned(codes);
}

}  // namespace cuszi::gpu

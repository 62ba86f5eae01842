#pragma once

#include "gpu/async_copy.cuh"
#include "gpu/code_counter.cuh"
#include "gpu/interp_cube.cuh"

namespace cuszi::gpu {

/// Quantises the points of columns.
template <class T, int long_turn>
struct CubeQuantiser {
  using Cube = InterpCube<T, long_turn>;

  const Cube& cube;
  const ExceptionSets& exceptions;

  template <class Column>
  __device__ void operator()(const Quantizer<T>& quantizer, const Column& column,
                             const T (&prediction)[Column::points]) const {
    Quantised<T> result[Column::points];
    bool certain = true;
#pragma unroll
    for (int k = 0; k < Column::points; ++k) {
      const Attempt<T> attempt = try_to_quantise(quantizer, column.value(k), prediction[k]);
      result[k] = attempt.result;
      certain = certain & (attempt.certain | !column.has(k));
    }
    if (!certain) {
#pragma unroll
      for (int k = 0; k < Column::points; ++k) {
        result[k] = settle(quantizer, cube.frame.fills, column.value(k), prediction[k]);
        if (result[k].code == outlier_code && cube.is_own(column.place(k)))
          add_outlier(exceptions, cube.point(column.place(k)));
      }
    }
#pragma unroll
    for (int k = 0; k < Column::points; ++k) {
      if (!column.has(k)) continue;
      column.value(k) = result[k].restored;
      column.code(k) = result[k].code;
    }
  }

  /// Not inlined, like add_outlier(): rare, and called from everywhere.
  static __device__ __noinline__ Quantised<T> settle(const Quantizer<T>& quantizer,
                                                     const MissingTest<T>& fills, T value,
                                                     T prediction) {
    return quantise(quantizer, fills, value, prediction);
  }
  static __device__ __noinline__ void add_outlier(const ExceptionSets& exceptions,
                                                  std::uint64_t point) {
    exceptions.add_outlier(point);
  }
};

/// Original values of the closed box; anchors are coded as if their predictions were right.
template <bool whole, class T, int long_turn>
__device__ void load_values(const InterpCube<T, long_turn>& cube, const T* values) {
  using Cube = InterpCube<T, long_turn>;
  const auto load = [&](const CubePlace& p) {
    if (whole || cube.is_inside(p)) copy_async<sizeof(T)>(Cube::value(p), values + cube.point(p));
  };
  Cube::template for_each_place<1>(load);
  Cube::for_each_far_place(load);
  cube.for_each_anchor([&](std::uint64_t, const CubePlace& p) {
    *Cube::code(p) = static_cast<QuantCode>(cube.frame.params.radius);
  });
  wait_for_copies();
  __syncthreads();
}

/// Stores the codes of the points that the tile owns, two at a time where rows of the frame allow
/// it, and counts them.
template <bool whole, bool counts, class T, int long_turn>
__device__ void store_codes(const InterpCube<T, long_turn>& cube, QuantCode* codes,
                            const CodeCounter& counter) {
  using Cube = InterpCube<T, long_turn>;
  using Pair = std::uint32_t;
  if (cube.has_even_rows()) {
    Cube::template for_each_own_place<2>([&](const CubePlace& p) {
      if (whole || cube.is_own(p)) {
        const Pair pair = *reinterpret_cast<const Pair*>(Cube::code(p));
        *reinterpret_cast<Pair*>(codes + cube.point(p)) = pair;
        if constexpr (counts) {
          counter.add(pair & 0xFFFFU);
          counter.add(pair >> 16);
        }
      }
    });
    return;
  }
  Cube::template for_each_own_place<1>([&](const CubePlace& p) {
    if (!whole && !cube.is_own(p)) return;
    const QuantCode code = *Cube::code(p);
    codes[cube.point(p)] = code;
    if constexpr (counts) counter.add(code);
  });
}

template <bool whole, bool counts, class T, int long_turn>
__device__ void encode_cube(const InterpCube<T, long_turn>& cube, const T* values, QuantCode* codes,
                            const ExceptionSets& exceptions, const CodeCounter& counter) {
  load_values<whole>(cube, values);
  CubeStages<T, long_turn, whole>::run(cube, CubeQuantiser<T, long_turn>{cube, exceptions});
  store_codes<whole, counts>(cube, codes, counter);
}

/// `counts`: the codes are counted, too.
template <class T, int long_turn, bool counts>
__global__ void __launch_bounds__(InterpCube<T, long_turn>::threads,
                                  InterpCube<T, long_turn>::blocks)
    encode_cubes(const __grid_constant__ InterpFrame<T> frame, const T* values, QuantCode* codes,
                 const __grid_constant__ ExceptionSets exceptions,
                 const __grid_constant__ CodeBins bins) {
  using Cube = InterpCube<T, long_turn>;
  const Cube cube(frame);
  const CodeCounter counter(bins, reinterpret_cast<std::uint32_t*>(shared_memory + Cube::bytes));
  if (cube.is_whole())
    encode_cube<true, counts>(cube, values, codes, exceptions, counter);
  else
    encode_cube<false, counts>(cube, values, codes, exceptions, counter);
  if constexpr (counts) counter.finish();
}

}  // namespace cuszi::gpu

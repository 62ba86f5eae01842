#pragma once

#include "gpu/interp/interp_cube.cuh"
#include "gpu/runtime/bytes.cuh"

namespace cuszi::gpu {

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
      const bool clear = attempt.certain & !quantizer.zone.has(column.value(k));
      certain = certain & (clear | !column.has(k));
    }
    if (!certain) {
#pragma unroll
      for (int k = 0; k < Column::points; ++k) {
        result[k] = resolve(quantizer, cube.frame.rules, column.value(k), prediction[k]);
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

  /// Not inlined: rare, with many call sites.
  static __device__ __noinline__ Quantised<T> resolve(const Quantizer<T>& quantizer,
                                                      const RestoreRules<T>& rules, T value,
                                                      T prediction) {
    return quantise(quantizer, rules, value, prediction);
  }
  static __device__ __noinline__ void add_outlier(const ExceptionSets& exceptions,
                                                  std::uint64_t point) {
    exceptions.add_outlier(point);
  }
};

/// Anchors have the code of no error.
template <bool whole, class T, int long_turn>
__device__ void load_values(const InterpCube<T, long_turn>& cube, const T* values) {
  using Cube = InterpCube<T, long_turn>;
  const auto load = [&](const InterpCubePlace& p) {
    if (whole || cube.is_inside(p)) copy_async<sizeof(T)>(Cube::value(p), values + cube.point(p));
  };
  Cube::template for_each_place<1>(load);
  Cube::for_each_far_place(load);
  cube.for_each_anchor([&](std::uint64_t, const InterpCubePlace& p) {
    *Cube::code(p) = static_cast<QuantCode>(cube.frame.params.radius);
  });
  wait_for_copies();
  __syncthreads();
}

/// Stores pairs where rows are aligned.
template <bool whole, class T, int long_turn>
__device__ void store_codes(const InterpCube<T, long_turn>& cube, QuantCode* codes) {
  using Cube = InterpCube<T, long_turn>;
  using Pair = std::uint32_t;
  if (cube.has_even_rows()) {
    Cube::template for_each_own_place<2>([&](const InterpCubePlace& p) {
      if (whole || cube.is_own(p)) {
        *reinterpret_cast<Pair*>(codes + cube.point(p)) =
            *reinterpret_cast<const Pair*>(Cube::code(p));
      }
    });
    return;
  }
  Cube::template for_each_own_place<1>([&](const InterpCubePlace& p) {
    if (whole || cube.is_own(p)) codes[cube.point(p)] = *Cube::code(p);
  });
}

template <class T, int long_turn, bool whole>
__device__ void encode_cube(const InterpCube<T, long_turn>& cube, const T* values, QuantCode* codes,
                            const ExceptionSets& exceptions) {
  load_values<whole>(cube, values);
  InterpCubeStages<T, long_turn, whole>::run(cube, CubeQuantiser<T, long_turn>{cube, exceptions});
  store_codes<whole>(cube, codes);
}

template <class T, int long_turn>
__global__ void __launch_bounds__(InterpPolicy::threads, InterpPolicy::cube_blocks<T>)
    encode_cubes(const __grid_constant__ InterpFrame<T> frame, const T* values, QuantCode* codes,
                 const __grid_constant__ ExceptionSets exceptions) {
  const InterpCube<T, long_turn> cube(frame);
  if (cube.is_whole())
    encode_cube<T, long_turn, true>(cube, values, codes, exceptions);
  else
    encode_cube<T, long_turn, false>(cube, values, codes, exceptions);
}

}  // namespace cuszi::gpu

#pragma once

#include "gpu/interp/interp_cube.cuh"
#include "gpu/runtime/bytes.cuh"

namespace cuszi::gpu {

template <class T, int long_turn>
struct CubeRestorer {
  using Cube = InterpCube<T, long_turn>;

  const Cube& cube;
  const SparseView& outliers;

  template <class Column>
  __device__ void operator()(const Quantizer<T>& quantizer, const Column& column,
                             const T (&prediction)[Column::points]) const {
    QuantCode code[Column::points];
#pragma unroll
    for (int k = 0; k < Column::points; ++k) code[k] = column.code(k);
    bool any_exact = false;
#pragma unroll
    for (int k = 0; k < Column::points; ++k) {
      if (!column.has(k)) continue;
      column.value(k) = restore(quantizer, prediction[k], code[k]);
      any_exact = any_exact || code[k] == outlier_code;
    }
    if (any_exact) put_outliers(column);
  }

  template <class Column>
  __device__ void put_outliers(const Column& column) const {
#pragma unroll 1
    for (int k = 0; k < Column::points; ++k) {
      if (!column.has(k) || column.code(k) != outlier_code) continue;
      column.value(k) = exact_value(outliers, cube.point(column.place(k)));
    }
  }

  /// Not inlined: rare, with many call sites.
  static __device__ __noinline__ T exact_value(const SparseView& outliers, std::uint64_t point) {
    return value_of<T>(outliers.find(point));
  }
};

/// Loads pairs where rows are aligned.
template <bool whole, class T, int long_turn>
__device__ void load_codes(const InterpCube<T, long_turn>& cube, const QuantCode* codes) {
  using Cube = InterpCube<T, long_turn>;
  const auto load = [&](const InterpCubePlace& p) {
    if (whole || cube.is_inside(p)) *Cube::code(p) = codes[cube.point(p)];
  };
  if (cube.has_even_rows()) {
    Cube::template for_each_place<2>([&](const InterpCubePlace& p) {
      if (whole || cube.is_inside(p))
        copy_async<2 * sizeof(QuantCode)>(Cube::code(p), codes + cube.point(p));
    });
  } else {
    Cube::template for_each_place<1>(load);
  }
  Cube::for_each_far_place(load);
  cube.for_each_anchor([&](std::uint64_t anchor, const InterpCubePlace& p) {
    *Cube::value(p) = cube.frame.anchors[anchor];
  });
  wait_for_copies();
  __syncthreads();
}

template <class T, int long_turn, bool whole>
__device__ void decode_cube(const InterpCube<T, long_turn>& cube, const QuantCode* codes,
                            const SparseView& outliers, T* values) {
  using Cube = InterpCube<T, long_turn>;
  load_codes<whole>(cube, codes);
  InterpCubeStages<T, long_turn, whole>::run(cube, CubeRestorer<T, long_turn>{cube, outliers});
  Cube::template for_each_own_place<1>([&](const InterpCubePlace& p) {
    if (whole || cube.is_own(p)) values[cube.point(p)] = *Cube::value(p);
  });
}

template <class T, int long_turn>
__global__ void __launch_bounds__(InterpPolicy::threads, InterpPolicy::cube_blocks<T>)
    decode_cubes(const __grid_constant__ InterpFrame<T> frame, const QuantCode* codes,
                 const __grid_constant__ SparseView outliers, T* values) {
  const InterpCube<T, long_turn> cube(frame);
  if (cube.is_whole())
    decode_cube<T, long_turn, true>(cube, codes, outliers, values);
  else
    decode_cube<T, long_turn, false>(cube, codes, outliers, values);
}

}  // namespace cuszi::gpu

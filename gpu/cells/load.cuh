#pragma once

#include <limits>

#include "core/cells/blocks.hpp"
#include "core/cells/quantiser.hpp"
#include "gpu/cells/cell.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// 16 bytes of values.
template <class T>
struct alignas(16) ValueVector {
  static constexpr int size = 16 / sizeof(T);
  T of[size];
};

/// Whether rows of values that begin here can be read and written by vectors.
template <class T>
bool allows_vectors(const Extents3& extents, const T* values) {
  return extents[2] % ValueVector<T>::size == 0 &&
         reinterpret_cast<std::uintptr_t>(values) % 16 == 0;
}

/// Brings a cell to shared memory, by all threads of a block. `prepare` makes of a value what is
/// stored; NaN stands for points outside the field.
template <class Shape, class T, class Prepare>
__device__ void load_cell(const CellGrid& grid, const CellTile& tile, const T* values,
                          bool by_vectors, const Prepare& prepare, T* cell) {
  constexpr T outside = std::numeric_limits<T>::quiet_NaN();
  constexpr int size = ValueVector<T>::size;
  constexpr int of_row = Shape::tile / size;
  constexpr int rows_of_slice = Shape::has(1) ? Shape::tile + 1 : 1;
  constexpr int rows = (Shape::has(0) ? Shape::tile + 1 : 1) * rows_of_slice;
  const T* const first = values + grid.index(tile.first[0], tile.first[1], tile.first[2]);
  const std::uint64_t row_step = grid.extents[2];
  const std::uint64_t slice_step = grid.extents[1] * grid.extents[2];
  const auto row_at = [&](int z, int y) {
    return first + (static_cast<unsigned>(z) * slice_step + static_cast<unsigned>(y) * row_step);
  };
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll 4
  for (int i = thread; i < rows * of_row; i += CellsPolicy::cell_threads<Shape>) {
    const int z = i / of_row / rows_of_slice;
    const int y = i / of_row % rows_of_slice;
    const int x = i % of_row * size;
    const T* const from = row_at(z, y) + x;
    ValueVector<T> loaded;
    if (by_vectors && tile.is_inside(z, y, x)) {  // whole vectors are
      loaded = *reinterpret_cast<const ValueVector<T>*>(from);
      CUSZI_UNROLL
      for (int j = 0; j < size; ++j) loaded.of[j] = prepare(loaded.of[j]);
    } else {
      CUSZI_UNROLL
      for (int j = 0; j < size; ++j)
        loaded.of[j] = tile.is_inside(z, y, x + j) ? prepare(from[j]) : outside;
    }
    T* const even = cell + CellPlaces<Shape>::of(z, y, x);
    T* const odd = cell + CellPlaces<Shape>::of(z, y, x + 1);
    CUSZI_UNROLL
    for (int j = 0; j < size / 2; ++j) {
      even[j] = loaded.of[2 * j];
      odd[j] = loaded.of[2 * j + 1];
    }
  }
  for (int row = thread; row < rows; row += CellsPolicy::cell_threads<Shape>) {
    const int z = row / rows_of_slice;
    const int y = row % rows_of_slice;
    cell[CellPlaces<Shape>::of(z, y, Shape::tile)] =
        tile.is_inside(z, y, Shape::tile) ? prepare(row_at(z, y)[Shape::tile]) : outside;
  }
}

}  // namespace cuszi::gpu

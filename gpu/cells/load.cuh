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

/// Where a point of a tile lies among the values of a field, given the tile's first point there.
template <class T>
__device__ T* point_of_tile(const CellGrid& grid, T* first, int z, int y, int x) {
  return first + (static_cast<unsigned>(z) * (grid.extents[1] * grid.extents[2]) +
                  static_cast<unsigned>(y) * grid.extents[2] + static_cast<unsigned>(x));
}

/// Brings the cells of a thread block to shared memory. `prepare` makes of a value what is stored;
/// NaN stands for points outside the field. `is_whole`: there are none.
template <class Block, class T, class Prepare>
__device__ void load_cells(const CellGrid& grid, const T* values, bool by_vectors, bool is_whole,
                           const Prepare& prepare, Block& cells) {
  using Shape = typename Block::Shape;
  constexpr T outside = std::numeric_limits<T>::quiet_NaN();
  constexpr int size = ValueVector<T>::size;
  Block::template for_each_vector<1, size>([&](int number, int z, int y, int x) {
    const T* const from = point_of_tile(grid, values + cells.begin[number], z, y, x);
    const auto is_inside = [&](int ahead) {
      return is_whole || cells.tile[number].is_inside(z, y, x + ahead);
    };
    ValueVector<T> loaded;
    if (by_vectors && is_inside(0)) {  // whole vectors are
      loaded = *reinterpret_cast<const ValueVector<T>*>(from);
      CUSZI_UNROLL
      for (int j = 0; j < size; ++j) loaded.of[j] = prepare(loaded.of[j]);
    } else {
      CUSZI_UNROLL
      for (int j = 0; j < size; ++j) loaded.of[j] = is_inside(j) ? prepare(from[j]) : outside;
    }
    T* const even = cells.values[number] + CellPlaces<Shape>::of(z, y, x);
    T* const odd = cells.values[number] + CellPlaces<Shape>::of(z, y, x + 1);
    CUSZI_UNROLL
    for (int j = 0; j < size / 2; ++j) {
      even[j] = loaded.of[2 * j];
      odd[j] = loaded.of[2 * j + 1];
    }
  });
  constexpr int rows_of_slice = Shape::has(1) ? Shape::tile + 1 : 1;
  constexpr int rows = (Shape::has(0) ? Shape::tile + 1 : 1) * rows_of_slice;
  Block::template for_each_item<rows>([&](int number, int row) {
    const int z = row / rows_of_slice;
    const int y = row % rows_of_slice;
    const T* const from = point_of_tile(grid, values + cells.begin[number], z, y, Shape::tile);
    const bool is_inside = is_whole || cells.tile[number].is_inside(z, y, Shape::tile);
    cells.values[number][CellPlaces<Shape>::of(z, y, Shape::tile)] =
        is_inside ? prepare(*from) : outside;
  });
}

}  // namespace cuszi::gpu

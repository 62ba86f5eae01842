#pragma once

#include <limits>

#include "core/cells/blocks.hpp"
#include "core/cells/quantiser.hpp"
#include "gpu/cells/cell.cuh"
#include "gpu/runtime/bytes.cuh"
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

#if CUSZI_VARIANT == 2
template <class Block, class T>
__device__ void load_columns_async(const CellGrid& grid, const T* values, Block& cells) {
  using Columns = CellColumns<typename Block::Shape, 1, 1>;
  const std::uint64_t step = Columns::step(grid);
  Block::template for_each_item<Columns::count>([&](int number, int item) {
    const Columns column(item);
    const T* from = values + (cells.begin[number] + column.begin(grid));
    T* const to = cells.values[number];
    const int last = column.last(cells.tile[number]);
#pragma unroll 17
    for (int i = 0; i < Columns::depth; ++i, from += step)
      if (i <= last) copy_async<sizeof(T)>(to + column.place(i), from);
    CUSZI_NO_UNROLL
    for (int i = last + 1; i < Columns::depth; ++i)
      to[column.place(i)] = std::numeric_limits<T>::quiet_NaN();
  });
}
#endif

/// Brings columns of the cells of a thread block to shared memory, `size` points at once. NaN
/// stands for points outside the field.
template <int size, class Block, class T>
__device__ void load_columns(const CellGrid& grid, const T* values, Block& cells) {
  using Columns = CellColumns<typename Block::Shape, 1, size>;
  struct alignas(size * sizeof(T)) Vector {
    T of[size];
  };
  constexpr int at_once = 6;  // so many are on their way
  const std::uint64_t step = Columns::step(grid);
  Block::template for_each_item<Columns::count>([&](int number, int item) {
    const Columns column(item);
    const T* from = values + (cells.begin[number] + column.begin(grid));
    T* const to = cells.values[number];
    const int last = column.last(cells.tile[number]);
    if (last + 1 < Columns::depth) {  // it is cut
      CUSZI_NO_UNROLL
      for (int i = 0; i < Columns::depth; ++i, from += step) {
        for (int j = 0; j < size; ++j)
          to[column.place(i, j)] = i <= last ? from[j] : std::numeric_limits<T>::quiet_NaN();
      }
      return;
    }
#pragma unroll 3
    for (int first = 0; first < Columns::depth; first += at_once) {
      Vector loaded[at_once];
      CUSZI_UNROLL
      for (int i = 0; i < at_once; ++i, from += step)
        if (first + i < Columns::depth) loaded[i] = *reinterpret_cast<const Vector*>(from);
      CUSZI_UNROLL
      for (int i = 0; i < at_once; ++i) {
        CUSZI_UNROLL
        for (int j = 0; j < size; ++j)
          if (first + i < Columns::depth) to[column.place(first + i, j)] = loaded[i].of[j];
      }
    }
  });
}

/// Starts to bring the cells of a thread block to shared memory: their values are there once all
/// threads have called wait_for_copies().
template <class Block, class T>
__device__ void load_cells(const CellGrid& grid, const T* values, bool by_vectors, Block& cells) {
#if CUSZI_VARIANT == 2
  load_columns_async(grid, values, cells);
#else
  using Shape = typename Block::Shape;
  if (!by_vectors) {
    load_columns<1>(grid, values, cells);
    return;
  }
  // The points at the end of rows are no vectors.
  constexpr int rows_of_slice = Shape::has(1) ? Shape::tile + 1 : 1;
  constexpr int rows = (Shape::has(0) ? Shape::tile + 1 : 1) * rows_of_slice;
  Block::template for_each_item<rows>([&](int number, int row) {
    const int z = row / rows_of_slice;
    const int y = row % rows_of_slice;
    T* const to = cells.values[number] + CellPlaces<Shape>::of(z, y, Shape::tile);
    if (cells.tile[number].is_inside(z, y, Shape::tile)) {
      const std::uint64_t at =
          grid.index(static_cast<unsigned>(z), static_cast<unsigned>(y), Shape::tile);
      copy_async<sizeof(T)>(to, values + (cells.begin[number] + at));
    } else {
      *to = std::numeric_limits<T>::quiet_NaN();
    }
  });
  load_columns<ValueVector<T>::size>(grid, values, cells);
#endif
}

}  // namespace cuszi::gpu

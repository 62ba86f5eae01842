#pragma once

#include "core/zfp_codec.hpp"
#include "core/zfp_grid.hpp"

namespace cuszi::gpu {

/// Words that stand `stride` apart: one thread's among those of its thread block.
template <class Word>
struct StridedWords {
  Word* first;
  unsigned stride;

  __device__ Word& operator[](unsigned i) const { return first[i * stride]; }
};

/// Threads of a thread block that codes blocks of values, one a thread.
template <int rank>
inline constexpr unsigned zfp_threads = rank == 4 ? 32 : 128;

/// Whether rows of four values can be moved at once.
template <class T>
__host__ __device__ inline bool has_aligned_rows(const ZfpGrid& grid, const T* values) {
  return grid.extents[0] % 4 == 0 &&
         reinterpret_cast<std::uintptr_t>(values) % (4 * sizeof(T)) == 0;
}

/// As many values as are moved at once.
template <class T>
struct alignas(16) ZfpRow {
  T values[16 / sizeof(T)];
};

/// gather_block() by rows where that can be.
template <int rank, class T>
__device__ inline void load_block(const ZfpGrid& grid, const ZfpPlace<rank>& place, bool aligned,
                                  const T* field, T* block) {
  if (!aligned || !place.is_whole) {
    gather_block<rank>(grid, place, field, block);
    return;
  }
  constexpr int rows = zfp_block_values(rank) / 4;
  constexpr unsigned row_values = 16 / sizeof(T);
  for_each_of<rows, rank <= 3>([&](int line) {
    const auto r = static_cast<unsigned>(line);
    std::uint64_t offset = place.first;
#pragma unroll
    for (int axis = 1; axis < rank; ++axis) {
      offset += ((r >> (2 * (axis - 1))) & 3) * grid.strides[axis];
    }
#pragma unroll
    for (unsigned x = 0; x < 4; x += row_values) {
      const auto row = *reinterpret_cast<const ZfpRow<T>*>(field + offset + x);
#pragma unroll
      for (unsigned i = 0; i < row_values; ++i) block[4 * r + x + i] = row.values[i];
    }
  });
}

/// scatter_block() by rows where that can be.
template <int rank, class T>
__device__ inline void store_block(const ZfpGrid& grid, const ZfpPlace<rank>& place, bool aligned,
                                   const T* block, T* field) {
  if (!aligned || !place.is_whole) {
    scatter_block<rank>(grid, place, block, field);
    return;
  }
  constexpr int rows = zfp_block_values(rank) / 4;
  constexpr unsigned row_values = 16 / sizeof(T);
  for_each_of<rows, rank <= 3>([&](int line) {
    const auto r = static_cast<unsigned>(line);
    std::uint64_t offset = place.first;
#pragma unroll
    for (int axis = 1; axis < rank; ++axis) {
      offset += ((r >> (2 * (axis - 1))) & 3) * grid.strides[axis];
    }
#pragma unroll
    for (unsigned x = 0; x < 4; x += row_values) {
      ZfpRow<T> row;
#pragma unroll
      for (unsigned i = 0; i < row_values; ++i) row.values[i] = block[4 * r + x + i];
      *reinterpret_cast<ZfpRow<T>*>(field + offset + x) = row;
    }
  });
}

/// Calls f with the rank as a constant.
template <class F>
void with_zfp_rank(int rank, const F& f) {
  switch (rank) {
    case 1: f(std::integral_constant<int, 1>{}); break;
    case 2: f(std::integral_constant<int, 2>{}); break;
    case 3: f(std::integral_constant<int, 3>{}); break;
    default: f(std::integral_constant<int, 4>{}); break;
  }
}

}  // namespace cuszi::gpu

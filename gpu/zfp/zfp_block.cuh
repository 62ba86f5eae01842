#pragma once

#include "core/zfp/zfp_codec.hpp"
#include "core/zfp/zfp_grid.hpp"

namespace cuszi::gpu {

template <class Word>
struct StridedWords {
  Word* first;
  unsigned stride;

  __device__ Word& operator[](unsigned i) const { return first[i * stride]; }
};

template <class T, int rank>
struct ZfpPolicy {
  static constexpr unsigned threads = rank == 4 ? 32 : 128;
  static constexpr unsigned find_threads = 128;                      ///< one chunk per thread
  static constexpr unsigned encode_blocks = sizeof(T) == 4 ? 4 : 2;  ///< per multiprocessor
  static constexpr unsigned decode_blocks = sizeof(T) == 4 ? 5 : 2;  ///< per multiprocessor
};

/// For vector accesses of four values.
template <class T>
__host__ __device__ inline bool has_aligned_rows(const ZfpGrid& grid, const T* values) {
  return grid.extents[0] % 4 == 0 &&
         reinterpret_cast<std::uintptr_t>(values) % (4 * sizeof(T)) == 0;
}

template <class T>
struct alignas(16) ZfpRow {
  T values[16 / sizeof(T)];
};

/// Calls row(position in the block, offset in the field) for a block inside the field.
template <int rank, class Row>
__device__ inline void for_whole_rows(const ZfpGrid& grid, const ZfpPlace<rank>& place,
                                      const Row& row) {
  for_each_of<zfp_block_values(rank) / 4, rank <= 3>([&](int line) {
    const auto r = static_cast<unsigned>(line);
    std::uint64_t offset = place.first;
#pragma unroll
    for (int axis = 1; axis < rank; ++axis) {
      offset += ((r >> (2 * (axis - 1))) & 3) * grid.strides[axis];
    }
    row(4 * r, offset);
  });
}

template <class T>
__device__ inline void load_row(const T* from, T* row) {
  constexpr unsigned moved = 16 / sizeof(T);
#pragma unroll
  for (unsigned x = 0; x < 4; x += moved) {
    const auto some = *reinterpret_cast<const ZfpRow<T>*>(from + x);
#pragma unroll
    for (unsigned i = 0; i < moved; ++i) row[x + i] = some.values[i];
  }
}

template <int rank, class T>
__device__ inline void load_block(const ZfpGrid& grid, const ZfpPlace<rank>& place, bool aligned,
                                  const T* field, T* block) {
  if (!aligned || !place.is_whole) {
    gather_block<rank>(grid, place, field, block);
    return;
  }
  for_whole_rows<rank>(grid, place, [&](unsigned at, std::uint64_t offset) {
    load_row(field + offset, block + at);
  });
}

template <int rank, class T>
__device__ inline void store_block(const ZfpGrid& grid, const ZfpPlace<rank>& place, bool aligned,
                                   const T* block, T* field) {
  if (!aligned || !place.is_whole) {
    scatter_block<rank>(grid, place, block, field);
    return;
  }
  constexpr unsigned moved = 16 / sizeof(T);
  for_whole_rows<rank>(grid, place, [&](unsigned at, std::uint64_t offset) {
#pragma unroll
    for (unsigned x = 0; x < 4; x += moved) {
      ZfpRow<T> row;
#pragma unroll
      for (unsigned i = 0; i < moved; ++i) row.values[i] = block[at + x + i];
      *reinterpret_cast<ZfpRow<T>*>(field + offset + x) = row;
    }
  });
}

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

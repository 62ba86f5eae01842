#pragma once

#include <algorithm>

#include "core/multilevel/schedule.hpp"
#include "gpu/multilevel/tuning.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

/// Compact array of the points of a level and coarser ones. Rows have points of even x first, so
/// points of a class and their taps are contiguous.
struct LevelLayout {
  Index4 extents{};
  Index4 strides{};           ///< of rows; 1 along the fastest axis
  Index4 original_strides{};  ///< of a step in the frame
  std::uint32_t odd = 0;      ///< offset of odd x in a row; 0: not split

  CUSZI_HD std::uint64_t points() const {
    return extents[0] * extents[1] * extents[2] * extents[3];
  }
  CUSZI_HD std::uint64_t row_of(const Index4& at) const {
    return at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2];
  }
  CUSZI_HD std::uint64_t place_in_row(std::uint64_t x) const {
    return odd == 0 ? x : (x % 2) * odd + x / 2;
  }
  CUSZI_HD std::uint64_t offset_of(const Index4& at) const {
    return row_of(at) + place_in_row(at[3]);
  }
  CUSZI_HD std::uint64_t original_offset_of(const Index4& at) const {
    return at[0] * original_strides[0] + at[1] * original_strides[1] + at[2] * original_strides[2] +
           at[3] * original_strides[3];
  }
};

/// Restored values and the magnitudes of their codes.
template <class T>
struct LevelArray {
  LevelLayout layout;
  T* values = nullptr;
  std::uint8_t* magnitudes = nullptr;
};

/// Array access for core's functions of one point. In split rows, offsets have two digits: the
/// row's offset, and x.
template <class T>
class LevelPointer {
 public:
  static CUSZI_HD Grid grid_of(const LevelLayout& layout) {
    Grid grid;
    grid.extents = layout.extents;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      grid.strides[axis] = layout.odd == 0 ? layout.strides[axis] : layout.strides[axis] << x_bits;
    }
    grid.strides[3] = 1;
    return grid;
  }

  __device__ LevelPointer(const T* values, const LevelLayout& layout, const Index4& at)
      : values_(values),
        at_(static_cast<std::int64_t>(layout.odd == 0 ? layout.offset_of(at)
                                                      : (layout.row_of(at) << x_bits) + at[3])),
        odd_(layout.odd) {}

  __device__ LevelPointer& operator+=(std::ptrdiff_t offset) {
    at_ += offset;
    return *this;
  }
  __device__ LevelPointer& operator-=(std::ptrdiff_t offset) { return *this += -offset; }
  __device__ T operator[](std::ptrdiff_t offset) const {
    const std::int64_t at = at_ + offset;
    if (odd_ == 0) return values_[at];
    const auto x = static_cast<std::uint32_t>(at) & ((1U << x_bits) - 1);
    return values_[(at >> x_bits) + (x % 2) * odd_ + x / 2];
  }
  __device__ T operator*() const { return (*this)[0]; }

 private:
  static constexpr unsigned x_bits = 16;

  const T* values_;
  std::int64_t at_;
  std::uint32_t odd_;
};

/// Blocks per row of `points` points; several only for rows of at least 4096 points per block.
inline unsigned parts_of_row(std::uint64_t points) {
  constexpr std::uint64_t points_of_part = 4096;
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>(points / points_of_part, 1, LevelPolicy::most_blocks_of_axis));
}

/// `value_size` is in bytes.
LevelLayout level_layout(const Lattice& lattice, int level, ByteCount value_size);

/// Copies a level into the next finer one.
template <class T>
void refine(DeviceContext& gpu, const Lattice& lattice, const LevelArray<T>& from,
            const LevelArray<T>& to);

template <class T>
void join_rows(DeviceContext& gpu, const LevelLayout& layout, T* values);

}  // namespace cuszi::gpu

#pragma once

#include <algorithm>

#include "core/multilevel/schedule.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

/// Where the points of a level and of all coarser ones stand in memory, compact: along lattice axes
/// a coordinate counts the level's spacings. A row has its points of even x in front, so that the
/// points of a class, and each tap of them, are next to each other.
struct LevelLayout {
  Index4 extents{};
  Index4 strides{};           ///< of rows; along the fastest axis 1
  Index4 original_strides{};  ///< of a step in the frame's own array
  std::uint32_t odd = 0;      ///< where in a row the points of odd x begin; 0: it is not split

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

/// The array of a level: restored values, and the magnitudes of their quant-codes.
template <class T>
struct LevelArray {
  LevelLayout layout;
  T* values = nullptr;
  std::uint8_t* magnitudes = nullptr;
};

/// Reads the neighbours of a point of such an array, for core's functions of one point. Where rows
/// are split, offsets are numbers of two digits: a row's place, and x.
template <class T>
class LevelPointer {
 public:
  /// The array as core's functions see it.
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

/// The longest row that is split: it must fit in shared memory to be put in order again.
inline constexpr std::uint64_t longest_split_row_bytes = 32768;

inline constexpr std::uint64_t most_blocks_of_axis = 65535;  ///< y or z

/// How many thread blocks share a row of `points` points. More than one only where each has at
/// least 4096 points: rows are then so long that there may be few.
inline unsigned parts_of_row(std::uint64_t points) {
  constexpr std::uint64_t points_of_part = 4096;
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>(points / points_of_part, 1, most_blocks_of_axis));
}

/// The layout of a level of a frame whose values take `value_size` bytes each.
LevelLayout level_layout(const Lattice& lattice, int level, ByteCount value_size);

/// Copies the values and magnitudes of a level into the next finer one.
template <class T>
void refine(DeviceContext& gpu, const Lattice& lattice, const LevelArray<T>& from,
            const LevelArray<T>& to);

/// Puts the rows of an array of all points in order.
template <class T>
void join_rows(DeviceContext& gpu, const LevelLayout& layout, T* values);

}  // namespace cuszi::gpu

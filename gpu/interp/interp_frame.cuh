#pragma once

#include "gpu/field/ranked_bits.cuh"
#include "gpu/interp/interp_plan.cuh"

namespace cuszi::gpu {

struct InterpPolicy {
  static constexpr unsigned threads = 128;
  static constexpr unsigned least_row_threads = 16;
  static constexpr unsigned most_large_blocks = 1024;  ///< with boxes in global memory
  template <class T>
  static constexpr unsigned cube_blocks = sizeof(T) == 4 ? 10 : 7;  ///< per multiprocessor
};

template <class T>
struct InterpFrame {
  InterpParams params;
  InterpPlan plan;
  Extents3 extents;
  RankedBits missing;
  std::uint32_t tiles_x;
  std::uint32_t tiles_y;
  std::uint32_t tiles;
  std::uint32_t height_inverse;  ///< for dividing rows by the box's height; 0: divide
  std::byte* boxes;              ///< of large boxes, in global memory, per thread block
  ByteCount box_bytes;
  const T* anchors;  ///< missing ones filled
  Extents3 anchor_grid;
  Quantizer<T> quantizers[InterpParams::max_levels];
  RestoreRules<T> rules;  ///< that restored values could break

  __device__ TileBox tile(std::uint32_t i) const {
    const std::uint32_t line = i / tiles_x;
    return tile_box(params, extents, {line / tiles_y, line % tiles_y, i % tiles_x});
  }

  __device__ std::uint32_t row_to_z(std::uint32_t row) const {
    return height_inverse != 0 ? __umulhi(row, height_inverse) : row / plan.size[1];
  }
};

extern __shared__ __align__(16) std::byte shared_memory[];

}  // namespace cuszi::gpu

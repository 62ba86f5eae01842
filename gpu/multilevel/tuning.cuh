#pragma once

#include <cstdint>

namespace cuszi::gpu {

// How the kernels of `multilevel` are launched.

/// Regions of a class: a thread block each.
struct RegionPolicy {
  static constexpr unsigned points = 512;
  static constexpr unsigned threads = 128;
  /// Passes of up to so many points share a launch that fills contexts.
  static constexpr std::uint64_t small_pass = 32768;
  static constexpr unsigned small_pass_blocks = 64;
};

/// Regions of cubes and slices, whose arrays have extents from `least` to `most`.
struct CubePolicy {
  static constexpr std::uint64_t least = 8;
  static constexpr std::uint64_t most = 65535;
  static constexpr std::uint64_t most_slices = 65535;  ///< along the two slowest axes
  static constexpr std::uint64_t most_points = std::uint64_t{1} << 29;
  template <class T>
  static constexpr unsigned blocks_of_sm = sizeof(T) == 4 ? 7 : 5;
  /// Thread blocks take runs of regions, if a multiprocessor has enough of them.
  static constexpr std::uint32_t longest_run = 4;
  static constexpr std::uint64_t enough_regions = 64;
};

/// Large cubes by vectors. Smaller levels are mostly faces, and launches are short.
struct VectorPolicy {
  static constexpr std::uint64_t least_edge = 64;
  static constexpr std::uint64_t least_points = std::uint64_t{1} << 21;
  static constexpr unsigned warps_x = 2;
  static constexpr unsigned warps_y = 4;  ///< tiles along y, or at faces
  static constexpr unsigned threads = 32 * warps_x * warps_y;
  static constexpr unsigned vectors_of_warp = 8;  ///< along x, in rows of four y (or z)
  static constexpr unsigned blocks_of_sm = 2;
};

/// Copies between levels.
struct LevelPolicy {
  static constexpr unsigned threads = 256;
  static constexpr std::uint64_t longest_split_row_bytes = 32768;  ///< fits shared memory
  static constexpr std::uint64_t most_blocks_of_axis = 65535;
};

}  // namespace cuszi::gpu

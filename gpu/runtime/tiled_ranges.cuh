#pragma once

#include <span>
#include <vector>

#include "gpu/runtime/context.hpp"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

/// Tiles of fixed size, one per thread block, so that a launch handles many ranges.
struct TiledRanges {
  const std::uint32_t* first_tiles = nullptr;  ///< [range]
  std::uint32_t ranges = 0;
  std::uint32_t tiles = 0;

  __device__ std::uint32_t range_of(std::uint32_t tile) const {
    std::uint32_t first = 0;
    std::uint32_t end = ranges;
    while (end - first > 1) {
      const std::uint32_t middle = (first + end) / 2;
      if (first_tiles[middle] <= tile) {
        first = middle;
      } else {
        end = middle;
      }
    }
    return first;
  }
};

/// The last tile of a range may be smaller. Valid after running `list`.
inline TiledRanges tile_ranges(DeviceContext& gpu, std::span<const std::uint64_t> sizes,
                               std::uint32_t tile_items, CopyList& list) {
  std::vector<std::uint32_t> first_tiles;
  std::uint64_t tiles = 0;
  for (const std::uint64_t size : sizes) {
    first_tiles.push_back(static_cast<std::uint32_t>(tiles));
    tiles += ceil_div(size, tile_items);
  }
  return {upload(gpu, first_tiles.data(), first_tiles.size(), list),
          static_cast<std::uint32_t>(sizes.size()), grid_of(tiles)};
}

}  // namespace cuszi::gpu

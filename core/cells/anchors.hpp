#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.hpp"
#include "core/cells/grid.hpp"
#include "core/tiles/tiles.hpp"

namespace cuszi {

// Anchors of `cells`: integers on the lattice of tiles, as differences along all axes modulo 2^32.
// Groups of 32 differences have as many bits each as the largest zigzag of the group needs.

inline constexpr std::uint32_t anchor_group = 32;
inline constexpr std::int64_t largest_anchor = (std::int64_t{1} << 30) - 1;

/// The difference of an anchor, given all; outside the lattice they are 0.
CUSZI_HD inline std::uint32_t anchor_difference(const CellGrid& grid, const std::int32_t* anchors,
                                                std::uint64_t number) {
  const std::uint64_t row = number / grid.tiles[2];
  const bool has[axis_count] = {row / grid.tiles[1] > 0, row % grid.tiles[1] > 0,
                                number % grid.tiles[2] > 0};
  std::uint32_t difference = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    std::uint64_t at = number;
    bool exists = true;
    bool is_negative = false;
    for (int axis = 0; axis < axis_count; ++axis) {
      if ((corner >> axis & 1) == 0) continue;
      exists = exists && has[axis];
      is_negative = !is_negative;
      at -= exists ? grid.step(axis) : 0;
    }
    if (!exists) continue;
    const auto value = static_cast<std::uint32_t>(anchors[at]);
    difference += is_negative ? 0U - value : value;
  }
  return difference;
}

/// The section of anchors: the widths of all groups, a byte each, padded to 4 bytes, then a group's
/// zigzags, which take as many words as their width; value i has the bits from i * width on.
std::vector<std::byte> encode_anchors(const CellGrid& grid, std::span<const std::int32_t> anchors);
/// Inverts encode_anchors(). Throws ArchiveError.
std::vector<std::int32_t> decode_anchors(const CellGrid& grid, Bytes section);

}  // namespace cuszi

#pragma once

#include <cstdint>

#include "core/base/dims.hpp"
#include "core/base/hd.hpp"
#include "core/base/units.hpp"

namespace cuszi {

// Geometry of `cells` (README.md has a drawing). Axes are 0 for z, 1 for y, 2 for x. The class of a
// point in its level is the set of axes along which its coordinate is an odd multiple of the
// level's spacing, as bits 1, 2 and 4: `odd`.

inline constexpr int axis_count = 3;
inline constexpr int cell_codes = 4096;      ///< of a tile
inline constexpr int cell_block_codes = 64;  ///< codes that share a frequency table
inline constexpr int tile_blocks = cell_codes / cell_block_codes;

CUSZI_HD constexpr int power_of(int base, int exponent) {
  int power = 1;
  for (int i = 0; i < exponent; ++i) power *= base;
  return power;
}

CUSZI_HD constexpr int log2_of_power(int power) {
  int exponent = 0;
  for (; power > 1; power /= 2) ++exponent;
  return exponent;
}

/// How many axes of a class are odd.
CUSZI_HD constexpr int order_of(int odd) { return (odd & 1) + (odd >> 1 & 1) + (odd >> 2 & 1); }

/// Tiles along the last axes of a frame, as many as the rank, and where the codes of a tile stand.
template <int axes>
struct CellShape {
  static constexpr int rank = axes;
  static constexpr int tile = rank == 3 ? 16 : rank == 2 ? 64 : 4096;  ///< points along an axis
  static constexpr int half = tile / 2;
  static constexpr int levels = rank == 3 ? 4 : rank == 2 ? 6 : 12;
  static constexpr int block_side = rank == 3 ? 4 : rank == 2 ? 8 : 64;
  static constexpr int classes = (1 << rank) - 1;  ///< of a level
  static constexpr int passes = rank == 3 ? 3 : rank == 2 ? 4 : 7;

  CUSZI_HD static constexpr bool has(int axis) { return axis >= axis_count - rank; }
  CUSZI_HD static constexpr int extent(int axis) { return has(axis) ? tile : 1; }

  /// The classes of a level in their order: by the number of odd axes, then the faster axes first.
  CUSZI_HD static constexpr int odd_of(int number) {
    constexpr int of_number = rank == 3 ? 0x7356124 : rank == 2 ? 0x624 : 4;  // 4 bits each
    return of_number >> (4 * number) & 7;
  }
  /// The number of a class among those of a level.
  CUSZI_HD static constexpr int number_of(int odd) {
    constexpr int of_odd = rank == 3 ? 0x63405120 : rank == 2 ? 0x02000100 : 0;
    return of_odd >> (4 * odd) & 7;
  }

  /// The pass of the codes of a level that has this many lattice cells along an axis.
  CUSZI_HD static constexpr int pass_of_cells(int cells) {
    return cells < block_side ? 0 : log2_of_power(cells / block_side) + 1;
  }

  /// Where in its tile the code of a point stands, given the level's number of cells along an axis
  /// (half a tile over the spacing), and the point's cell.
  CUSZI_HD static constexpr int position(int cells, int odd, int z, int y, int x) {
    const int line = (odd & 4) != 0 ? x : (odd & 2) != 0 ? y : z;
    const int across = (odd & 4) != 0 ? y : x;
    const int beyond = (odd & 6) != 0 ? z : y;
    if (cells < block_side) {
      return (1 + number_of(odd)) * power_of(cells, rank) + (beyond * cells + across) * cells +
             line;
    }
    const int boxes = cells / block_side;
    const int box = (z / block_side * boxes + y / block_side) * boxes + x / block_side;
    const int block = power_of(boxes, rank) + box * classes + number_of(odd);
    return block * cell_block_codes +
           (beyond % block_side * block_side + across % block_side) * block_side +
           line % block_side;
  }
  /// Where in its tile the code of a point stands, by its coordinates in the tile.
  CUSZI_HD static constexpr int position_of_point(int z, int y, int x) {
    const int all = z | y | x;
    if (all == 0) return 0;
    const int spacing = all & -all;
    const auto is_odd = [&](int at) { return (at & spacing) != 0; };
    const int odd = (is_odd(z) ? 1 : 0) | (is_odd(y) ? 2 : 0) | (is_odd(x) ? 4 : 0);
    return position(half / spacing, odd, z / (2 * spacing), y / (2 * spacing), x / (2 * spacing));
  }
};

/// Levels count from the finest one, 0.
CUSZI_HD constexpr int level_of_spacing(int spacing) { return log2_of_power(spacing); }
template <class Shape>
CUSZI_HD constexpr int pass_of_spacing(int spacing) {
  return spacing > Shape::half ? 0 : Shape::pass_of_cells(Shape::half / spacing);
}

/// Calls f with the shape of tiles of this rank.
template <class F>
decltype(auto) with_cell_rank(int rank, F&& f) {
  switch (rank) {
    case 1: return f(CellShape<1>{});
    case 2: return f(CellShape<2>{});
    default: return f(CellShape<3>{});
  }
}

// What the passes of a tile have, for code that learns the rank when it runs.

inline constexpr int most_cell_passes = 7;
inline constexpr int most_cell_levels = 12;

CUSZI_HD constexpr int classes_of_level(int rank) { return (1 << rank) - 1; }
CUSZI_HD constexpr int cell_passes(int rank) { return rank == 3 ? 3 : rank == 2 ? 4 : 7; }
/// The number of blocks of codes that a pass has in every tile, and the first of them.
CUSZI_HD constexpr std::uint32_t blocks_of_pass(int rank, int pass) {
  return pass == 0 ? 1U : static_cast<std::uint32_t>(classes_of_level(rank)) << (rank * (pass - 1));
}
CUSZI_HD constexpr std::uint32_t first_block_of_pass(int rank, int pass) {
  return pass == 0 ? 0U : 1U << (rank * (pass - 1));
}

/// A tile of a frame: its first point, and the largest coordinates of its cell.
struct CellTile {
  std::uint64_t number;
  std::uint32_t at[axis_count];     ///< among tiles
  std::uint64_t first[axis_count];  ///< point
  int last[axis_count];             ///< coordinate of the cell that is inside the field
  bool is_whole;                    ///< the cell lies inside the field

  CUSZI_HD bool is_inside(int z, int y, int x) const {
    return z <= last[0] && y <= last[1] && x <= last[2];
  }
};

/// The tiles of a frame, in raster order.
struct CellGrid {
  std::uint64_t extents[axis_count];
  std::uint32_t tiles[axis_count];
  unsigned cut;           ///< axes whose last tile sticks out of the field, as bits 1, 2 and 4
  bool has_anchor_codes;  ///< under local bounds, anchors have codes of their own

  template <class Shape>
  CUSZI_HD static CellGrid of(const Extents3& extents, bool has_anchor_codes = false) {
    CellGrid grid{};
    grid.has_anchor_codes = has_anchor_codes;
    for (int axis = 0; axis < axis_count; ++axis) {
      const auto side = static_cast<std::uint64_t>(Shape::extent(axis));
      grid.extents[axis] = extents[static_cast<std::size_t>(axis)];
      grid.tiles[axis] = static_cast<std::uint32_t>((grid.extents[axis] + side - 1) / side);
      if (grid.extents[axis] % side != 0) grid.cut |= 1U << axis;
    }
    return grid;
  }

  CUSZI_HD std::uint64_t count() const { return std::uint64_t{tiles[0]} * tiles[1] * tiles[2]; }
  /// How many tiles later the next one along an axis comes.
  CUSZI_HD std::uint64_t step(int axis) const {
    return axis == 2 ? 1 : axis == 1 ? tiles[2] : std::uint64_t{tiles[1]} * tiles[2];
  }
  CUSZI_HD std::uint64_t index(std::uint64_t z, std::uint64_t y, std::uint64_t x) const {
    return (z * extents[1] + y) * extents[2] + x;
  }

  /// The axes along which a tile sticks out of the field, as bits.
  CUSZI_HD unsigned cut_of_tile(std::uint64_t number) const {
    if (cut == 0) return 0;
    const std::uint64_t row = number / tiles[2];
    const std::uint64_t at[axis_count] = {row / tiles[1], row % tiles[1], number - row * tiles[2]};
    unsigned found = 0;
    for (int axis = 0; axis < axis_count; ++axis)
      if (at[axis] + 1 == tiles[axis]) found |= cut & 1U << axis;
    return found;
  }

  template <class Shape>
  CUSZI_HD CellTile tile(std::uint64_t number) const {
    const std::uint64_t row = number / tiles[2];
    const std::uint64_t z = row / tiles[1];
    return tile_at<Shape>(static_cast<std::uint32_t>(z),
                          static_cast<std::uint32_t>(row - z * tiles[1]),
                          static_cast<std::uint32_t>(number - row * tiles[2]));
  }
  /// By its place among tiles.
  template <class Shape>
  CUSZI_HD CellTile tile_at(std::uint32_t z, std::uint32_t y, std::uint32_t x) const {
    CellTile tile{};
    tile.number = (std::uint64_t{z} * tiles[1] + y) * tiles[2] + x;
    tile.at[0] = z;
    tile.at[1] = y;
    tile.at[2] = x;
    tile.is_whole = true;
    for (int axis = 0; axis < axis_count; ++axis) {
      tile.first[axis] = std::uint64_t{tile.at[axis]} * static_cast<unsigned>(Shape::extent(axis));
      const std::uint64_t behind = extents[axis] - 1 - tile.first[axis];
      const int most = Shape::has(axis) ? Shape::tile : 0;
      tile.last[axis] = behind < static_cast<std::uint64_t>(most) ? static_cast<int>(behind) : most;
      tile.is_whole = tile.is_whole && tile.last[axis] == most;
    }
    return tile;
  }
};

inline CellGrid cell_grid(int rank, const Extents3& extents, bool has_anchor_codes = false) {
  return with_cell_rank(
      rank, [&](auto shape) { return CellGrid::of<decltype(shape)>(extents, has_anchor_codes); });
}

/// The extents of the points of a frame that a stride leaves. Axes stay where they are: one that is
/// left with one point keeps its place.
inline Extents3 extents_at_stride(Extents3 extents, std::uint64_t stride) {
  for (std::uint64_t& extent : extents) extent = ceil_div(extent, stride);
  return extents;
}

}  // namespace cuszi

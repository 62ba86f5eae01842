#pragma once

#include "core/cells/grid.hpp"
#include "core/cells/prediction.hpp"
#include "gpu/cells/tuning.cuh"

namespace cuszi::gpu {

/// The cell of a tile in shared memory. Values lie by the parities of their coordinates, so that
/// neighbours on a lattice are neighbours in memory at every spacing.
template <class Shape>
struct CellPlaces {
  static constexpr int side = Shape::half + 1;
  static constexpr int count =
      (1 << (Shape::rank - 1)) * (2 * Shape::half + 1) * power_of(side, Shape::rank - 1);

  /// How far apart points are whose coordinates along an axis differ by 2.
  CUSZI_HD static constexpr int unit(int axis) { return power_of(side, axis_count - 1 - axis); }

  CUSZI_HD static constexpr int of(int z, int y, int x) {
    constexpr int row = power_of(side, Shape::rank - 1);
    constexpr int kinds = 1 << (Shape::rank - 1);
    const int slowest = Shape::rank == 3 ? z & 1 : Shape::rank == 2 ? y & 1 : x & 1;
    const int others = Shape::rank == 3 ? (y & 1) * 2 + (x & 1) : Shape::rank == 2 ? x & 1 : 0;
    const int base =
        slowest == 0 ? others * side * row : kinds * side * row + others * Shape::half * row;
    return base + (Shape::rank == 3 ? (z >> 1) * unit(0) : 0) +
           (Shape::rank >= 2 ? (y >> 1) * unit(1) : 0) + (x >> 1);
  }
};

/// A corner of a cell: bit 0 of its number is set if it is at the end along x, and so on.
template <class Shape>
class CellCorner {
 public:
  CUSZI_HD explicit CellCorner(unsigned number) : number_(number) {}

  CUSZI_HD bool is_end(int axis) const { return (number_ >> (axis_count - 1 - axis) & 1) != 0; }
  CUSZI_HD int coordinate(int axis) const { return is_end(axis) ? Shape::tile : 0; }
  CUSZI_HD int place() const {
    return CellPlaces<Shape>::of(coordinate(0), coordinate(1), coordinate(2));
  }
  CUSZI_HD bool is_inside(const CellTile& tile) const {
    return tile.is_inside(coordinate(0), coordinate(1), coordinate(2));
  }
  /// The number of the tile whose anchor this is.
  CUSZI_HD std::uint64_t tile(const CellGrid& grid, const CellTile& here) const {
    std::uint64_t number = here.number;
    for (int axis = 0; axis < axis_count; ++axis)
      if (is_end(axis)) number += grid.step(axis);
    return number;
  }

 private:
  unsigned number_;
};

/// The tile of a thread block. Those whose cells are cut by the field's end, the last along an
/// axis, come last: they have instructions of their own.
template <class Shape>
__device__ std::uint32_t tile_of_block(const CellGrid& grid) {
  const std::uint32_t* const all = grid.tiles;
  const std::uint32_t z = all[0] - (Shape::has(0) ? 1 : 0);  // without the last
  const std::uint32_t y = all[1] - (Shape::has(1) ? 1 : 0);
  const std::uint32_t x = all[2] - 1;
  const auto number = [&](std::uint32_t at_z, std::uint32_t at_y, std::uint32_t at_x) {
    return (at_z * all[1] + at_y) * all[2] + at_x;
  };
  std::uint32_t rest = blockIdx.x;
  if (rest < z * y * x) return number(rest / x / y, rest / x % y, rest % x);
  rest -= z * y * x;
  if (rest < z * y) return number(rest / y, rest % y, x);
  rest -= z * y;
  if (Shape::has(1) && rest < z * all[2]) return number(rest / all[2], y, rest % all[2]);
  rest -= Shape::has(1) ? z * all[2] : 0;
  return number(z, rest / all[2], rest % all[2]);
}

/// The weights of the classes of all levels: [level][class][which odd axes have a neighbour above:
/// bit 0 for the slowest of them].
template <class Shape>
inline constexpr unsigned weight_sets = Shape::levels* Shape::classes;
inline constexpr unsigned weights_of_set = 8;

}  // namespace cuszi::gpu

#pragma once

#include <type_traits>

#include "core/cells/grid.hpp"
#include "core/cells/prediction.hpp"
#include "gpu/cells/tuning.cuh"
#include "gpu/runtime/launch.cuh"

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

/// The columns of a cell: `size` points that follow each other along x, at all places along the
/// axis of columns. `far` is 1 if points of far faces are among them.
template <class Shape, int far, int size>
struct CellColumns {
  static constexpr int axis = Shape::rank == 3 ? 0 : 1;
  static constexpr int depth = Shape::has(axis) ? Shape::tile + far : 1;
  static constexpr int of_row = (Shape::tile + far) / size;
  static constexpr int count = of_row * (Shape::rank == 3 ? Shape::tile + far : 1);

  int y;  ///< with three axes
  int x;

  CUSZI_HD explicit CellColumns(int number) : y(number / of_row), x(number % of_row * size) {}

  /// The last place that is inside the field; -1: none is.
  CUSZI_HD int last(const CellTile& tile) const {
    return (Shape::rank < 3 || y <= tile.last[1]) && x <= tile.last[2] ? tile.last[axis] : -1;
  }
  /// Where its first point lies in the field, behind that of the tile.
  CUSZI_HD std::uint64_t begin(const CellGrid& grid) const {
    return static_cast<unsigned>(y) * grid.extents[2] + static_cast<unsigned>(x);
  }
  /// How far apart places are in the field.
  CUSZI_HD static std::uint64_t step(const CellGrid& grid) {
    return (axis == 0 ? grid.extents[1] : 1) * grid.extents[2];
  }
  /// Where a point lies in the cell.
  CUSZI_HD int place(int at, int ahead = 0) const {
    return axis == 0 ? CellPlaces<Shape>::of(at, y, x + ahead)
                     : CellPlaces<Shape>::of(0, at, x + ahead);
  }
};

/// A corner of a cell: bit 0 of its number is set if it is at the end along x, and so on.
template <class Shape>
class CellCorner {
 public:
  CUSZI_HD explicit CellCorner(unsigned number) : number_(number) {}

  CUSZI_HD bool is_first() const { return number_ == 0; }
  CUSZI_HD bool is_end(int axis) const { return (number_ >> (axis_count - 1 - axis) & 1) != 0; }
  CUSZI_HD int coordinate(int axis) const { return is_end(axis) ? Shape::tile : 0; }
  /// The axes along which it is at the end, as bits 1, 2 and 4.
  CUSZI_HD unsigned ends() const {
    return (is_end(0) ? 1U : 0U) | (is_end(1) ? 2U : 0U) | (is_end(2) ? 4U : 0U);
  }
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

struct TilePlace {
  std::uint32_t z;
  std::uint32_t y;
  std::uint32_t x;
};

/// Which tile is at a position of the order in which thread blocks take them. Those whose cells are
/// cut by the field's end, the last along an axis, come last: they have instructions of their own.
template <class Shape>
__device__ TilePlace tile_in_order(const CellGrid& grid, std::uint32_t position) {
  const std::uint32_t* const all = grid.tiles;
  const std::uint32_t z = all[0] - (Shape::has(0) ? 1 : 0);  // without the last
  const std::uint32_t y = all[1] - (Shape::has(1) ? 1 : 0);
  const std::uint32_t x = all[2] - 1;
  std::uint32_t rest = position;
  if (rest < z * y * x) return {rest / x / y, rest / x % y, rest % x};
  rest -= z * y * x;
  if (rest < z * y) return {rest / y, rest % y, x};
  rest -= z * y;
  if (Shape::has(1) && rest < z * all[2]) return {rest / all[2], y, rest % all[2]};
  rest -= Shape::has(1) ? z * all[2] : 0;
  return {z, rest / all[2], rest % all[2]};
}

/// The cells of a thread block, in shared memory. The last block has tiles twice.
template <class T, class Shape_, int tiles_>
struct CellsOfBlock {
  using Shape = Shape_;
  static constexpr int tiles = tiles_;
  static constexpr int threads = CellsPolicy::cell_threads<Shape, tiles>;
  static constexpr int of_multiprocessor = CellsPolicy::cell_blocks<T, Shape>;

  /// An odd number for each tile: threads that take the same line of several access other banks.
  T values[tiles][CellPlaces<Shape>::count | 1];
  CellTile tile[tiles];
  std::uint64_t begin[tiles];  ///< the index of a tile's first point

  /// By all threads; returns whether all cells lie inside the field.
  __device__ bool take_tiles(const CellGrid& grid) {
    bool is_whole = true;
    if (threadIdx.x < tiles) {
      const auto last = static_cast<std::uint32_t>(grid.count() - 1);
      const TilePlace at = tile_in_order<Shape>(grid, min(position(threadIdx.x), last));
      tile[threadIdx.x] = grid.template tile_at<Shape>(at.z, at.y, at.x);
      const CellTile& own = tile[threadIdx.x];
      begin[threadIdx.x] = grid.index(own.first[0], own.first[1], own.first[2]);
      is_whole = own.is_whole;
    }
    return __syncthreads_and(is_whole) != 0;
  }
  /// Whether a tile is not there for the second time.
  __device__ static bool is_new(const CellGrid& grid, int number) {
    return position(static_cast<unsigned>(number)) < grid.count();
  }
  /// Calls each(tile, item) for so many items of each tile.
  template <int items, class Each>
  __device__ __forceinline__ static void for_each_item(const Each& each) {
    CUSZI_NO_UNROLL
    for (unsigned i = threadIdx.x; i < tiles * items; i += threads)
      each(static_cast<int>(i / items), static_cast<int>(i % items));
  }

 private:
  __device__ static std::uint32_t position(unsigned number) { return blockIdx.x * tiles + number; }
};

/// Calls f(std::type_identity<CellsOfBlock<...>>{}) with the largest that a block of this device
/// has room for.
template <class T, class F>
void with_cells_of_block(const Device& device, int rank, F&& f) {
  with_cell_rank(rank, [&](auto shape) {
    using Shape = decltype(shape);
    using Most = CellsOfBlock<T, Shape, CellsPolicy::most_cell_tiles<T, Shape>>;
    using Usual = CellsOfBlock<T, Shape, CellsPolicy::cell_tiles<T, Shape>>;
    constexpr unsigned besides = 2048;  // what kernels add to cells, at most
    if (sizeof(Most) + besides <= device.shared_bytes) {
      f(std::type_identity<Most>{});
    } else {
      f(std::type_identity<Usual>{});
    }
  });
}

/// Launches a kernel that has `Cells` in dynamic shared memory, for all tiles of so many frames.
template <class Cells, class Frames, class... Arguments>
void launch_cells(DeviceContext& gpu, void (*kernel)(Frames, Arguments...), const Frames& frames,
                  const CellGrid& grid, unsigned count, Arguments... arguments) {
  raise_shared_limit(gpu.device(), kernel);
  const dim3 blocks(blocks_for(grid.count(), Cells::tiles), count);
  kernel<<<blocks, Cells::threads, sizeof(Cells), gpu.stream()>>>(frames, arguments...);
}

/// The weights of the classes of all levels: [level][class][which odd axes have a neighbour above:
/// bit 0 for the slowest of them].
template <class Shape>
inline constexpr unsigned weight_sets = Shape::levels* Shape::classes;
inline constexpr unsigned weights_of_set = 8;

}  // namespace cuszi::gpu

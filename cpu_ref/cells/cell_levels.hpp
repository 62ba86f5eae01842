#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "core/cells/grid.hpp"
#include "core/cells/prediction.hpp"
#include "core/cells/quantiser.hpp"
#include "core/cells/weights.hpp"
#include "cpu_ref/base/wide_vectors.hpp"

namespace cuszi::cpu {

// Cells on a CPU. The points of each level lie by classes, so that what a row of points is
// predicted from are rows, too. The points of even class are those of the coarser level, and get
// their values from there. A group of tiles that follow each other along x is coded at a time, in
// rows through all of them: the far face of a tile is the near face of the next one. Groups are
// taken from the last to the first, so the far face of a group has been restored before.

/// Points of a group along x: rows of the finest level fill wide vectors.
template <class Shape>
inline constexpr int group_width = Shape::rank == 3 ? 4 * Shape::tile : Shape::tile;
template <class Shape>
inline constexpr int group_tiles = group_width<Shape> / Shape::tile;

/// The tiles of a group, as one that is longer along x.
template <class Shape>
CellTile tile_of_group(const CellGrid& grid, std::uint64_t first_tile) {
  CellTile tile = grid.template tile<Shape>(first_tile);
  if (group_tiles<Shape> == 1 || tile.last[2] < Shape::tile) return tile;
  const std::uint64_t behind = grid.extents[2] - 1 - tile.first[2];
  constexpr auto most = static_cast<std::uint64_t>(group_width<Shape>);
  tile.last[2] = static_cast<int>(behind < most ? behind : most);
  tile.is_whole = tile.is_whole && tile.last[2] == group_width<Shape>;
  return tile;
}

/// How many tiles a group has.
template <class Shape>
std::size_t tiles_in(const CellTile& group) {
  const int begun = group.last[2] / Shape::tile + 1;
  return static_cast<std::size_t>(std::min(begun, group_tiles<Shape>));
}

/// The arrays of a level: all classes alike.
template <class Shape, int number>
struct CellLevel {
  static constexpr int level = number;
  static constexpr int spacing = 1 << level;
  static constexpr int cells = Shape::half >> level;    ///< of a tile along an axis
  static constexpr int n = cells * group_tiles<Shape>;  ///< points of a row
  static constexpr int pitch = n + 1;                   ///< values of a row, with the far face
  static constexpr int cells_along(int axis) { return axis == 2 ? n : cells; }      ///< of a group
  static constexpr int side(int axis) { return Shape::has(axis) ? cells + 1 : 1; }  ///< z or y
  /// Zeros before and behind each class: rows are read beyond their ends, for neighbours of weight
  /// 0, and values of other classes may not be numbers yet.
  static constexpr int padding = 8;
  static constexpr int class_size = side(0) * side(1) * pitch + padding;
  static constexpr int size = padding + 8 * class_size;

  /// Where the first value of a row is, or the code of a row.
  static constexpr int value_at(int odd, int z, int y) {
    return padding + odd * class_size + (z * side(1) + y) * pitch;
  }
  static constexpr int codes_before =
      level == 0 ? 0 : CellLevel<Shape, (level > 0 ? level - 1 : 0)>::codes_end;
  static constexpr int codes_end = codes_before + Shape::classes * side(0) * side(1) * n;
  static constexpr int code_at(int odd, int z, int y) {
    return codes_before + ((Shape::number_of(odd) * side(0) + z) * side(1) + y) * n;
  }
};

/// Calls work() with loops compiled for wide vectors, in the levels that have nearly all points.
template <class Level, class Work>
void with_vectors_of_level(const Work& work) {
  if constexpr (Level::level < 2) {
    with_wide_vectors(work);
  } else {
    work();
  }
}

template <class Shape>
using TopLevel = CellLevel<Shape, Shape::levels - 1>;

/// The codes of a group, row by row; those of far faces along y and z included. Last, the anchors'.
template <class Shape>
inline constexpr int anchor_code = TopLevel<Shape>::codes_end;
template <class Shape>
using CellCodes = std::array<std::int16_t, anchor_code<Shape> + group_tiles<Shape>>;

/// Calls f(CellLevel) for the levels from `level` down to 0 or up.
template <class Shape, int level = Shape::levels - 1, class F>
void for_each_level_down(int last, const F& f) {
  if (level < last) return;
  f(CellLevel<Shape, level>{});
  if constexpr (level > 0) for_each_level_down<Shape, level - 1>(last, f);
}
template <class Shape, int level = 0, class F>
void for_each_level_up(const F& f) {
  f(CellLevel<Shape, level>{});
  if constexpr (level + 1 < Shape::levels) for_each_level_up<Shape, level + 1>(f);
}

/// Calls f(std::integral_constant<int, odd>) for the classes of a level in their order.
template <class Shape, class F>
void for_each_class(const F& f) {
  [&]<int... number>(std::integer_sequence<int, number...>) {
    (f(std::integral_constant<int, Shape::odd_of(number)>{}), ...);
  }
  (std::make_integer_sequence<int, Shape::classes>{});
}

/// The quantisers of a row of points, as arrays that loops read by vectors.
template <class T, int n>
struct RowSteps {
  T step[n];
  T inverse[n];
  T certain[n];

  void set(int k, const CellsQuantizer<T>& quantizer, int level) {
    step[k] = quantizer.step[level];
    inverse[k] = quantizer.inverse[level];
    certain[k] = quantizer.certain;
  }
};

/// What the points of a row have by their places along x, where a group may end early.
template <class T, class Shape, int level>
struct RowTables {
  static constexpr int n = CellLevel<Shape, level>::n;
  T spline[4][n];                      ///< weights along x
  T weights[Shape::classes][4][3][n];  ///< by which of the other odd axes have a neighbour above
  RowSteps<T, n> steps;                ///< of all rows, or under local bounds of one

  /// Places that have what they had before are left as they are.
  void fill(int last_x, const CellsWeights& fitted, const CellsQuantizer<T>& quantizer) {
    const int inner = last_x / (2 << level);
    for (int k = 0; k < n; ++k) {
      const int of_tile = k % CellLevel<Shape, level>::cells;
      const int inner_of_tile =
          std::clamp(inner - (k - of_tile), 0, CellLevel<Shape, level>::cells);
      if (filled_[k] == inner_of_tile + 1) continue;
      filled_[k] = inner_of_tile + 1;
      steps.set(k, quantizer, level);
      const auto known = LineNeighbours::of(of_tile, inner_of_tile);
      const SplineWeights<T> c = spline_weights<T>(known);
      const T of[4] = {c.far_left, c.left, c.right, c.far_right};
      for (int i = 0; i < 4; ++i) spline[i][k] = of[i];
      for (int number = 0; number < Shape::classes; ++number)
        for (int others = 0; others < 4; ++others)
          fill_weights(number, others, k, known.right, fitted.of[level][number]);
    }
  }

 private:
  int filled_[n] = {};  ///< 0: not yet

  /// `others`: bit 0 for the axis z, 1 for y.
  void fill_weights(int number, int others, int k, bool on_line, const CoarseWeights& fitted) {
    const int odd = Shape::odd_of(number);
    if (order_of(odd) < 2) return;
    const bool z = (others & 1) != 0;
    const bool y = (others & 2) != 0;
    const ClassWeights<T> own = fitted.values<T>();
    const ClassWeights<T> w = odd == 7   ? effective_weights(own, z, y, on_line)
                              : odd == 6 ? effective_weights(own, y, on_line)
                              : odd == 5 ? effective_weights(own, z, on_line)
                                         : effective_weights(own, z, y);
    for (int i = 0; i < 3; ++i) weights[number][others][i][k] = w.of[i];
  }
};

template <class T, class Shape, class Levels = std::make_integer_sequence<int, Shape::levels>>
struct CellMemory;
/// Arrays of all levels, and their tables.
template <class T, class Shape, int... level>
struct CellMemory<T, Shape, std::integer_sequence<int, level...>> {
  template <int own>
  struct Arrays {
    std::array<T, static_cast<std::size_t>(CellLevel<Shape, own>::size)> values{};
    RowTables<T, Shape, own> tables{};
  };
  std::tuple<Arrays<level>...> levels;

  template <class Level>
  T* values() {
    return std::get<Level::level>(levels).values.data();
  }
  template <class Level>
  auto& tables() {
    return std::get<Level::level>(levels).tables;
  }
};

/// The rows that a row of points is predicted from.
template <class T, class Level, class Shape, int odd>
class RowPrediction {
 public:
  static constexpr int order = order_of(odd);
  static constexpr int n = Level::n;
  static constexpr bool has(int axis) { return (odd >> axis & 1) != 0; }

  RowPrediction(const T* values, const RowTables<T, Shape, Level::level>& tables, const int* last,
                int z, int y)
      : spline_(tables.spline) {
    const bool above_z = has(0) && z < last[0] / (2 * Level::spacing);
    const bool above_y = has(1) && y < last[1] / (2 * Level::spacing);
    if constexpr (has(0)) along_z_ = Across(values, last, z, y, std::integral_constant<int, 0>{});
    if constexpr (has(1)) along_y_ = Across(values, last, z, y, std::integral_constant<int, 1>{});
    if constexpr (has(2)) along_x_ = values + Level::value_at(odd ^ 4, z, y);
    if constexpr (order == 1) return;
    weights_ = tables.weights[Shape::number_of(odd)][(above_z ? 1 : 0) + (above_y ? 2 : 0)];
    if constexpr (order == 2) {
      constexpr int even = 0;
      const int up_z = above_z ? 1 : 0;
      const int up_y = above_y ? 1 : 0;
      low_low_ = values + Level::value_at(even, z, y);
      if constexpr (odd == 3) {
        high_low_ = values + Level::value_at(even, z + up_z, y);
        low_high_ = values + Level::value_at(even, z, y + up_y);
        high_high_ = values + Level::value_at(even, z + up_z, y + up_y);
      } else {
        high_low_ = values + Level::value_at(even, z + up_z, y + up_y);
      }
    }
  }

  [[gnu::always_inline]] T operator()(int k) const {
    if constexpr (order == 1) {
      return has(0) ? along_z_(k) : has(1) ? along_y_(k) : along_x(k);
    } else {
      const T a = has(0) ? along_z_(k) : along_y_(k);
      const T b = has(0) && has(1) ? along_y_(k) : along_x(k);
      const T c = order == 3 ? along_x(k) : diagonals(k);
      return (weights_[0][k] * a + weights_[1][k] * b) + weights_[2][k] * c;
    }
  }

 private:
  /// The spline along another axis than that of the row.
  struct Across {
    const T* rows[4] = {};
    SplineWeights<T> weights{};

    Across() = default;
    template <int axis>
    Across(const T* values, const int* last, int z, int y, std::integral_constant<int, axis>) {
      const int k = axis == 0 ? z : y;
      const auto known = LineNeighbours::of(k, last[axis] / (2 * Level::spacing));
      weights = spline_weights<T>(known);
      const auto row = [&](int by) {
        return values +
               Level::value_at(odd ^ (1 << axis), axis == 0 ? z + by : z, axis == 1 ? y + by : y);
      };
      rows[1] = row(0);
      rows[0] = known.far_left ? row(-1) : rows[1];
      rows[2] = known.right ? row(1) : rows[1];
      rows[3] = known.far_right ? row(2) : rows[1];
    }
    [[gnu::always_inline]] T operator()(int k) const {
      return spline_value(weights, rows[0][k], rows[1][k], rows[2][k], rows[3][k]);
    }
  };

  [[gnu::always_inline]] T along_x(int k) const {
    return (spline_[1][k] * along_x_[k] + spline_[2][k] * along_x_[k + 1]) +
           (spline_[0][k] * along_x_[k - 1] + spline_[3][k] * along_x_[k + 2]);
  }
  [[gnu::always_inline]] T diagonals(int k) const {
    if constexpr (odd == 3)
      return diagonal_mean<T>(low_low_[k], high_low_[k], low_high_[k], high_high_[k]);
    return diagonal_mean<T>(low_low_[k], high_low_[k], low_low_[k + 1], high_low_[k + 1]);
  }

  const T (&spline_)[4][n];
  const T (*weights_)[n] = nullptr;
  Across along_z_;
  Across along_y_;
  const T* along_x_ = nullptr;
  const T* low_low_ = nullptr;
  const T* high_low_ = nullptr;
  const T* low_high_ = nullptr;
  const T* high_high_ = nullptr;
};

/// How many points of a class lie in the field, along an axis of a group.
template <class Level, int odd>
constexpr int points_along(int axis, int last) {
  const bool is_odd = (odd >> axis & 1) != 0;
  const int count = is_odd ? (last / Level::spacing + 1) / 2 : last / (2 * Level::spacing) + 1;
  const bool with_far_face = axis != 2 && !is_odd;
  const int most = Level::cells_along(axis) + (with_far_face ? 1 : 0);
  return count < most ? count : most;
}

/// Sets the steps of a row of a class to those of local bounds.
template <class Shape, class Level, int odd, class T>
void set_local_steps(const LocalCellsQuantizers<T>& local, const CellTile& tile, int z, int y,
                     RowTables<T, Shape, Level::level>& tables) {
  const auto at = [&](int axis, int i) {
    return tile.first[axis] + static_cast<unsigned>(Level::spacing * (2 * i + (odd >> axis & 1)));
  };
  const int inside = points_along<Level, odd>(2, tile.last[2]);
  for (int k = 0; k < inside; ++k)
    tables.steps.set(k, local.at(at(0, z), at(1, y), at(2, k)), Level::level);
}

/// Calls f(z, y) for the rows of a class that lie in the field.
template <class Level, int odd, class F>
void for_each_row(const int* last, const F& f) {
  const int rows_z = points_along<Level, odd>(0, last[0]);
  const int rows_y = points_along<Level, odd>(1, last[1]);
  for (int z = 0; z < rows_z; ++z)
    for (int y = 0; y < rows_y; ++y) f(z, y);
}

/// Puts the restored values of a level to where the next finer one has its even class.
template <class Fine, class Coarse, class T>
void hand_down(const T* coarse, T* fine) {
  for (int z = 0; z < Fine::side(0); ++z) {
    for (int y = 0; y < Fine::side(1); ++y) {
      const int odd = (z & 1) | (y & 1) << 1;
      const T* const even_row = coarse + Coarse::value_at(odd, z / 2, y / 2);
      const T* const odd_row = coarse + Coarse::value_at(odd | 4, z / 2, y / 2);
      T* const row = fine + Fine::value_at(0, z, y);
      for (int k = 0; k < Coarse::n; ++k) {
        row[2 * k] = even_row[k];
        row[2 * k + 1] = odd_row[k];
      }
      row[Fine::n] = even_row[Coarse::n];
    }
  }
}

/// Before a group is begun: what was the near face along x of the group after it is its far one.
template <class Shape, class Level, class T>
void turn_face(T* values) {
  for (int odd = 1; odd < 4; ++odd) {
    for (int z = 0; z < Level::side(0); ++z) {
      for (int y = 0; y < Level::side(1); ++y) {
        T* const row = values + Level::value_at(odd, z, y);
        row[Level::n] = row[0];
      }
    }
  }
}

/// The corners of a group's cells, 0 outside the field. `anchor_of(number)` is the restored anchor
/// of a tile.
template <class Shape, class T, class AnchorOf>
void place_anchors(const CellGrid& grid, const CellTile& group, const AnchorOf& anchor_of,
                   T* values) {
  using Top = TopLevel<Shape>;
  for (int z = 0; z < Top::side(0); ++z) {
    for (int y = 0; y < Top::side(1); ++y) {
      const bool has_row =
          (z == 0 || group.last[0] == Shape::tile) && (y == 0 || group.last[1] == Shape::tile);
      const std::uint64_t first =
          group.number + (z != 0 ? grid.step(0) : 0) + (y != 0 ? grid.step(1) : 0);
      T* const row = values + Top::value_at(0, z, y);
      for (int x = 0; x <= group_tiles<Shape>; ++x) {
        const bool exists = has_row && x * Shape::tile <= group.last[2];
        row[x] = exists ? anchor_of(first + static_cast<unsigned>(x)) : T(0);
      }
    }
  }
}

/// Where codes stand in a tile, and in the CellCodes of its group. Most stand in runs of four in
/// both.
template <class Shape>
class CodeOrder {
 public:
  static constexpr int run = 4;

  struct FaceCode {
    std::uint16_t position;  ///< in its own tile
    std::uint16_t to;        ///< in the codes of the group, if its tile is the first
    std::uint16_t step;      ///< from there to that of the next tile
  };
  static constexpr int line_codes = 32;  ///< of a cache line
  static constexpr int block_lines = cell_block_codes / line_codes;

  /// The codes of a face of a cell that another tile has.
  struct Face {
    std::vector<FaceCode> codes;
    std::vector<FaceCode> runs;
    std::vector<std::uint16_t> lines;  ///< that these are in; of the tile itself: all
  };
  std::array<Face, 4> faces;  ///< by whether the tile is next along z and y

  static const CodeOrder& get() {
    static const CodeOrder order;
    return order;
  }

  /// Calls f(count, position in the block, place in the group) for the codes of a block of tile
  /// number `tile` of the group.
  template <class F>
  void for_each_of_block(std::size_t tile, std::size_t block, const F& f) const {
    const std::size_t first = block * cell_block_codes;
    const auto place = [&](std::size_t i) { return places_[first + i] + tile * steps_[first + i]; };
    if (is_by_runs_[block]) {
      for (std::size_t i = 0; i < cell_block_codes; i += run)
        f(std::integral_constant<int, run>{}, i, place(i));
    } else {
      for (std::size_t i = 0; i < cell_block_codes; ++i)
        f(std::integral_constant<int, 1>{}, i, place(i));
    }
  }

 private:
  CodeOrder() {
    places_[0] = anchor_code<Shape>;
    steps_[0] = 1;
    for_each_level_up<Shape>([&](auto level) {
      using Level = decltype(level);
      for_each_class<Shape>([&](auto odd) { add<Level, odd()>(); });
    });
    for (std::size_t block = 0; block < tile_blocks; ++block) {
      const std::uint16_t* const own = places_.data() + block * cell_block_codes;
      is_by_runs_[block] = true;
      for (std::size_t i = 0; i < cell_block_codes; ++i)
        is_by_runs_[block] = is_by_runs_[block] && own[i] == own[i / run * run] + i % run;
    }
    find_lines();
  }
  void find_lines() {
    for (std::uint16_t line = 0; line < tile_blocks * block_lines; ++line) {
      faces[0].lines.push_back(line);
      const auto is_in = [&](const FaceCode& code) { return code.position / line_codes == line; };
      for (unsigned next = 1; next < 4; ++next) {
        Face& face = faces[next];
        if (std::ranges::any_of(face.codes, is_in) || std::ranges::any_of(face.runs, is_in))
          face.lines.push_back(line);
      }
    }
  }
  template <class Level, int odd>
  void add() {
    constexpr int cells = Level::cells;
    for (int z = 0; z < (Shape::has(0) ? cells : 1); ++z)
      for (int y = 0; y < (Shape::has(1) ? cells : 1); ++y)
        for (int x = 0; x < cells; ++x) {
          const auto position = static_cast<std::uint16_t>(Shape::position(cells, odd, z, y, x));
          places_[position] = static_cast<std::uint16_t>(Level::code_at(odd, z, y) + x);
          steps_[position] = cells;
          for (unsigned next = 1; next < 4; ++next) {
            const bool by_z = (next & 1) != 0;
            const bool by_y = (next & 2) != 0;
            if ((by_z && ((odd & 1) != 0 || z != 0)) || (by_y && ((odd & 2) != 0 || y != 0)))
              continue;
            if ((by_z && !Shape::has(0)) || (by_y && !Shape::has(1))) continue;
            const int to = Level::code_at(odd, by_z ? cells : z, by_y ? cells : y) + x;
            const bool is_run = cells % run == 0 && (odd & 4) != 0;  // codes along x are in a row
            if (is_run && x % run != 0) continue;
            (is_run ? faces[next].runs : faces[next].codes)
                .push_back({position, static_cast<std::uint16_t>(to), cells});
          }
        }
  }

  std::array<std::uint16_t, cell_codes> places_{};  ///< by position, in a group's first tile
  std::array<std::uint16_t, cell_codes> steps_{};   ///< from there to those in the next tile
  std::array<bool, tile_blocks> is_by_runs_{};      ///< all codes of a block
};

/// Tiles that a thread takes in a row, groups of them from the last to the first.
struct TileRun {
  std::uint64_t first;
  std::uint64_t end;
  bool has_next;  ///< along x, whose near face is needed

  /// Calls f(first tile) for the groups of the run.
  template <class Shape, class F>
  void for_each_group(const F& f) const {
    constexpr std::uint64_t size = group_tiles<Shape>;
    for (std::uint64_t group = ceil_div(end - first, size); group-- > 0;) f(first + group * size);
  }
};

inline constexpr std::uint64_t tiles_of_run = 64;

inline std::uint64_t run_count(const CellGrid& grid) {
  return std::uint64_t{grid.tiles[0]} * grid.tiles[1] *
         ceil_div(std::uint64_t{grid.tiles[2]}, tiles_of_run);
}
inline TileRun run_of(const CellGrid& grid, std::uint64_t number) {
  const std::uint64_t across = grid.tiles[2];
  const std::uint64_t runs = ceil_div(across, tiles_of_run);
  const std::uint64_t row = number / runs * across;
  const std::uint64_t begin = number % runs * tiles_of_run;
  const std::uint64_t end = begin + tiles_of_run < across ? begin + tiles_of_run : across;
  return {row + begin, row + end, end < across};
}

}  // namespace cuszi::cpu

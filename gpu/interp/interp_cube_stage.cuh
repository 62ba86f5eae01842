#pragma once

#include <cstdint>

namespace cuszi::gpu {

/// The closed box of the tile 8x8x32 with anchors every 8: along x four cubes next to each other.
inline constexpr std::uint32_t cube_side = 8;
inline constexpr std::uint32_t cube_count = 4;
inline constexpr std::uint32_t cube_rows = 9 * 9;
inline constexpr std::uint32_t cube_row_points = cube_count * cube_side + 1;
inline constexpr std::uint32_t cube_row_codes = cube_row_points + 1;  ///< in words of two

/// A point of the box: along the short axes, a the one whose turn is first, and along x.
struct InterpCubePlace {
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t x;

  __device__ std::uint32_t row() const { return a * 9 + b; }
  __device__ bool is_below(const InterpCubePlace& end) const {
    return a < end.a && b < end.b && x < end.x;
  }
};

enum class CubeAxis { a, b, x };

/// The points that one turn of one level predicts, as columns: the points of one line within one
/// cube. Columns do not depend on each other, nor do the points of one.
template <int Level, int Turn, int LongTurn>
struct InterpCubeStage {
  static constexpr int level = Level;
  static constexpr CubeAxis axis = Turn == LongTurn                  ? CubeAxis::x
                                   : Turn == (LongTurn == 0 ? 1 : 0) ? CubeAxis::a
                                                                     : CubeAxis::b;
  static constexpr std::uint32_t spacing = 1U << (level - 1);
  static constexpr int points = cube_side / (2 * spacing);

 private:
  static constexpr bool had_turn(CubeAxis other) {
    const int turn = other == CubeAxis::x   ? LongTurn
                     : other == CubeAxis::a ? (LongTurn == 0 ? 1 : 0)
                                            : (LongTurn == 2 ? 1 : 2);
    return turn < Turn;
  }
  static constexpr std::uint32_t step(CubeAxis other) {
    return had_turn(other) ? spacing : 2 * spacing;
  }
  /// Places of columns along another axis. At level 1 no later prediction needs those on the far
  /// face of an axis that had its turn.
  static constexpr std::uint32_t count(CubeAxis other) {
    const std::uint32_t length = other == CubeAxis::x ? cube_count * cube_side : cube_side;
    return length / step(other) + (level == 1 && had_turn(other) ? 0 : 1);
  }
  static constexpr CubeAxis other_short = axis == CubeAxis::a ? CubeAxis::b : CubeAxis::a;

 public:
  static constexpr std::uint32_t columns =
      axis == CubeAxis::x ? count(CubeAxis::a) * cube_count * count(CubeAxis::b)
                          : count(CubeAxis::x) * count(other_short);

  /// The place before the first point of a column. Neighbouring columns lie in different banks of
  /// the shared memory as far as possible: those on the far face along x come last.
  static __device__ InterpCubePlace column(std::uint32_t i) {
    if constexpr (axis == CubeAxis::x) {
      constexpr std::uint32_t n = count(CubeAxis::a);
      return {i % n * step(CubeAxis::a), i / (n * cube_count) * step(CubeAxis::b),
              i / n % cube_count * cube_side};
    }
    constexpr std::uint32_t near = cube_count * cube_side / step(CubeAxis::x);
    constexpr std::uint32_t all_near = near * count(other_short);
    const std::uint32_t x = i < all_near ? i % near * step(CubeAxis::x) : cube_count * cube_side;
    const std::uint32_t other = (i < all_near ? i / near : i - all_near) * step(other_short);
    return axis == CubeAxis::a ? InterpCubePlace{0, other, x} : InterpCubePlace{other, 0, x};
  }

  /// How far apart neighbours along the column are in memory.
  static constexpr int rows = axis == CubeAxis::a ? 9 : axis == CubeAxis::b ? 1 : 0;
  static constexpr int value_stride = axis == CubeAxis::x ? 1 : rows * int{cube_row_points};
  static constexpr int code_stride = axis == CubeAxis::x ? 1 : rows * int{cube_row_codes};

  /// The place at a distance along the column.
  static __device__ InterpCubePlace along(const InterpCubePlace& p, std::uint32_t distance) {
    if constexpr (axis == CubeAxis::a) return {p.a + distance, p.b, p.x};
    if constexpr (axis == CubeAxis::b) return {p.a, p.b + distance, p.x};
    return {p.a, p.b, p.x + distance};
  }
};

}  // namespace cuszi::gpu

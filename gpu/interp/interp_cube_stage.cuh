#pragma once

#include <cstdint>

namespace cuszi::gpu {

/// The closed box of an 8x8x32 tile with anchors every 8: four cubes along x.
inline constexpr std::uint32_t cube_side = 8;
inline constexpr std::uint32_t cube_count = 4;
inline constexpr std::uint32_t cube_rows = 9 * 9;
inline constexpr std::uint32_t cube_row_points = cube_count * cube_side + 1;
inline constexpr std::uint32_t cube_row_codes = cube_row_points + 1;  ///< padded to pairs

/// `a` is the short axis whose turn is first, `b` the other.
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

/// Points of one turn of one level, as columns: a line's points in one cube. All are independent.
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
  /// At level 1, nothing needs columns on the far face of an axis that had its turn.
  static constexpr std::uint32_t count(CubeAxis other) {
    const std::uint32_t length = other == CubeAxis::x ? cube_count * cube_side : cube_side;
    return length / step(other) + (level == 1 && had_turn(other) ? 0 : 1);
  }
  static constexpr CubeAxis other_short = axis == CubeAxis::a ? CubeAxis::b : CubeAxis::a;

 public:
  static constexpr std::uint32_t columns =
      axis == CubeAxis::x ? count(CubeAxis::a) * cube_count * count(CubeAxis::b)
                          : count(CubeAxis::x) * count(other_short);

  /// Before the column's first point. Columns on the far face along x come last, to avoid bank
  /// conflicts.
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

  /// In memory, along the column.
  static constexpr int rows = axis == CubeAxis::a ? 9 : axis == CubeAxis::b ? 1 : 0;
  static constexpr int value_stride = axis == CubeAxis::x ? 1 : rows * int{cube_row_points};
  static constexpr int code_stride = axis == CubeAxis::x ? 1 : rows * int{cube_row_codes};

  static __device__ InterpCubePlace along(const InterpCubePlace& p, std::uint32_t distance) {
    if constexpr (axis == CubeAxis::a) return {p.a + distance, p.b, p.x};
    if constexpr (axis == CubeAxis::b) return {p.a, p.b + distance, p.x};
    return {p.a, p.b, p.x + distance};
  }
};

}  // namespace cuszi::gpu

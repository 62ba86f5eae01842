#pragma once

#include <cstddef>
#include <cstring>

namespace cuszi::cpu {

/// Eight 16-bit numbers.
template <class T>
using Eight [[gnu::vector_size(16)]] = T;

/// Transposes 8 x 8 numbers: three times, row i and row i + 4 become rows 2i and 2i + 1, their
/// numbers in turn.
template <class T>
[[gnu::always_inline]] inline void transpose_eight(Eight<T> (&rows)[8]) {
  for (int round = 0; round < 3; ++round) {
    Eight<T> next[8];
    for (int i = 0; i < 4; ++i) {
      next[2 * i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    std::memcpy(rows, next, sizeof next);
  }
}

/// Transposes a matrix of 16-bit numbers, whose sides are multiples of 8.
template <class T, std::size_t rows, std::size_t columns>
[[gnu::always_inline]] inline void transpose(const T (&from)[rows][columns],
                                             T (&to)[columns][rows]) {
  static_assert(sizeof(T) == 2 && rows % 8 == 0 && columns % 8 == 0);
  for (std::size_t row = 0; row < rows; row += 8) {
    for (std::size_t column = 0; column < columns; column += 8) {
      Eight<T> square[8];
      for (std::size_t i = 0; i < 8; ++i)
        std::memcpy(square + i, &from[row + i][column], sizeof *square);
      transpose_eight<T>(square);
      for (std::size_t i = 0; i < 8; ++i)
        std::memcpy(&to[column + i][row], square + i, sizeof *square);
    }
  }
}

}  // namespace cuszi::cpu

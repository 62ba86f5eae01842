#pragma once

#include <array>
#include <cstdint>

namespace cuszi::app {

/// The dots of a character: glyph_rows rows from the top of glyph_columns bits each, the first in
/// the highest bits. The font was drawn for this project.
using Glyph = std::uint64_t;

inline constexpr int glyph_columns = 5;
inline constexpr int glyph_rows = 8;

/// The glyph of a character of ASCII; a frame for any other byte.
Glyph glyph_of(char character);

/// Whether a glyph has a dot in this place.
constexpr bool has_dot(Glyph glyph, int row, int column) {
  return ((glyph >> ((glyph_rows - row) * glyph_columns - 1 - column)) & 1) != 0;
}

}  // namespace cuszi::app

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/picture/colours.hpp"

namespace cuszi::app {

/// A coloured panel: one colour a point, row by row from the top.
struct Tile {
  std::string caption;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<Colour> colours;
};

/// What the colours of a ramp stand for.
struct Scale {
  Ramp ramp;
  std::string low;
  std::string high;
};

/// What there is to see, for pictures and terminals alike.
struct Figure {
  std::vector<std::string> heading;  ///< lines
  std::vector<Tile> tiles;
  std::size_t across = 1;  ///< tiles in a row
  std::vector<Scale> scales;
};

/// How many dots a point is wide: at least 1, as many as leave the longest side of a tile `dots`.
std::size_t magnification(const Figure& figure, std::size_t dots);

}  // namespace cuszi::app

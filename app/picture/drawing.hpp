#pragma once

#include "app/picture/figure.hpp"

namespace cuszi::app {

/// Pixels by their colours in palette(), row by row from the top.
struct Picture {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<Colour> pixels;
};

/// Where something lies in a picture, in pixels from its left upper corner.
struct Place {
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

struct Drawing {
  Picture picture;
  std::vector<Place> tiles;  ///< where each tile of the figure lies
};

/// Draws a figure with its texts on white paper. Small tiles are magnified, but to no more than
/// `tile_side` pixels.
Drawing draw(const Figure& figure, std::size_t tile_side);

}  // namespace cuszi::app

#include "app/picture/drawing.hpp"

#include <algorithm>
#include <string_view>

#include "app/picture/font.hpp"

namespace cuszi::app {

namespace {

constexpr std::size_t margin = 12;  ///< around everything
constexpr std::size_t gap = 12;     ///< between tiles
constexpr std::size_t dot = 2;      ///< pixels of a dot of a glyph
constexpr std::size_t letter_width = dot * (glyph_columns + 1);
constexpr std::size_t line_height = dot * (glyph_rows + 2);
constexpr std::size_t least_line = 40;       ///< letters that there is room for
constexpr std::size_t bar_height = 16;       ///< of a scale
constexpr std::size_t strip_height = 24;     ///< the least of a tile with one row
constexpr std::size_t largest_zoomed = 400;  ///< that small tiles are magnified up to

std::size_t width_of(std::string_view text) { return letter_width * text.size(); }

/// The end of a text that is too long, behind dots.
std::string shortened(const std::string& text, std::size_t letters) {
  return text.size() <= letters ? text : "..." + text.substr(text.size() - letters + 3);
}

void fill(Picture& picture, const Place& place, Colour colour) {
  for (std::size_t y = place.y; y < place.y + place.height; ++y) {
    std::fill_n(picture.pixels.begin() + static_cast<std::ptrdiff_t>(y * picture.width + place.x),
                place.width, colour);
  }
}

void write(Picture& picture, std::size_t x, std::size_t y, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Glyph glyph = glyph_of(text[i]);
    for (int row = 0; row < glyph_rows; ++row) {
      for (int column = 0; column < glyph_columns; ++column) {
        if (!has_dot(glyph, row, column)) continue;
        const std::size_t left = x + i * letter_width + dot * static_cast<std::size_t>(column);
        fill(picture, {left, y + dot * static_cast<std::size_t>(row), dot, dot}, ink);
      }
    }
  }
}

void paint(Picture& picture, const Place& place, const Tile& tile) {
  for (std::size_t y = 0; y < place.height; ++y) {
    const std::size_t row = y * tile.rows / place.height;
    for (std::size_t x = 0; x < place.width; ++x) {
      const std::size_t column = x * tile.columns / place.width;
      picture.pixels[(place.y + y) * picture.width + place.x + x] =
          tile.colours[row * tile.columns + column];
    }
  }
}

void paint(Picture& picture, const Place& place, const Scale& scale) {
  for (std::size_t x = 0; x < place.width; ++x) {
    const double share = (static_cast<double>(x) + 0.5) / static_cast<double>(place.width);
    fill(picture, {place.x + x, place.y, 1, place.height}, scale.ramp.at(share));
  }
}

/// Where tiles lie below `top`, in columns and rows as wide and high as their largest, captions
/// below each.
struct Grid {
  std::vector<Place> tiles;
  std::size_t width = 0;   ///< of all
  std::size_t bottom = 0;  ///< where what follows may begin
};

Place size_of_tile(const Tile& tile, std::size_t zoom) {
  const std::size_t height = tile.rows * zoom;
  return {0, 0, tile.columns * zoom, tile.rows == 1 ? std::max(height, strip_height) : height};
}

Grid arrange(const Figure& figure, std::size_t top, std::size_t tile_side) {
  const std::size_t zoom = magnification(figure, std::min(tile_side, largest_zoomed));
  std::vector<std::size_t> widths(figure.across);
  Grid grid;
  for (std::size_t i = 0; i < figure.tiles.size(); ++i) {
    grid.tiles.push_back(size_of_tile(figure.tiles[i], zoom));
    std::size_t& width = widths[i % figure.across];
    width = std::max({width, grid.tiles[i].width, width_of(figure.tiles[i].caption)});
  }
  std::size_t y = top;
  std::size_t x = margin;
  std::size_t row_height = 0;
  for (std::size_t i = 0; i < figure.tiles.size(); ++i) {
    grid.tiles[i].x = x;
    grid.tiles[i].y = y;
    row_height = std::max(row_height, grid.tiles[i].height);
    x += widths[i % figure.across] + gap;
    grid.width = std::max(grid.width, x - gap - margin);
    if ((i + 1) % figure.across != 0 && i + 1 < figure.tiles.size()) continue;
    x = margin;
    y += row_height + line_height + gap;
    row_height = 0;
  }
  grid.bottom = y;
  return grid;
}

void write_scale(Picture& picture, std::size_t top, const Scale& scale) {
  const std::size_t width = picture.width - 2 * margin;
  paint(picture, {margin, top, width, bar_height}, scale);
  const std::size_t below = top + bar_height + dot;
  write(picture, margin, below, scale.low);
  write(picture, margin + width - width_of(scale.high), below, scale.high);
}

}  // namespace

Drawing draw(const Figure& figure, std::size_t tile_side) {
  const std::size_t top = margin + figure.heading.size() * line_height + gap;
  const Grid grid = arrange(figure, top, tile_side);
  const std::size_t scale_height = bar_height + dot + line_height;
  Drawing drawing;
  Picture& picture = drawing.picture;
  picture.width = 2 * margin + std::max(grid.width, least_line * letter_width);
  picture.height = grid.bottom + figure.scales.size() * scale_height + margin;
  picture.pixels.assign(picture.width * picture.height, paper);
  for (std::size_t i = 0; i < figure.heading.size(); ++i) {
    const std::size_t letters = (picture.width - 2 * margin) / letter_width;
    write(picture, margin, margin + i * line_height, shortened(figure.heading[i], letters));
  }
  for (std::size_t i = 0; i < figure.tiles.size(); ++i) {
    const Place& place = grid.tiles[i];
    paint(picture, place, figure.tiles[i]);
    write(picture, place.x, place.y + place.height + dot, figure.tiles[i].caption);
  }
  for (std::size_t i = 0; i < figure.scales.size(); ++i) {
    write_scale(picture, grid.bottom + i * scale_height, figure.scales[i]);
  }
  drawing.tiles = grid.tiles;
  return drawing;
}

}  // namespace cuszi::app

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "app/picture/formats.hpp"

namespace cuszi::app {

namespace {

constexpr std::size_t tile_cells = 24;  ///< that small tiles are magnified up to
constexpr std::size_t cell_gap = 2;     ///< cells between tiles
constexpr std::size_t scale_cells = 32;
constexpr const char* plain = "\x1b[0m";
constexpr const char* upper_half = "\xe2\x96\x80";

std::string colour_code(int which, const Rgb& colour) {
  return fmt::format("\x1b[{};2;{};{};{}m", which, colour.red, colour.green, colour.blue);
}

/// Cells of one line, each of two colours; an upper one alone leaves the background below it.
class Line {
 public:
  explicit Line(std::span<const Rgb> palette) : palette_(palette) {}

  void add(Colour upper, std::optional<Colour> lower) {
    constexpr int foreground = 38;
    constexpr int background = 48;
    if (upper_ != upper) text_ += colour_code(foreground, palette_[upper]);
    if (lower && lower_ != lower) text_ += colour_code(background, palette_[*lower]);
    upper_ = upper;
    lower_ = lower;
    text_ += upper_half;
  }

  /// Ends a piece of coloured cells; `cells` empty ones follow.
  void end(std::size_t cells) {
    text_ += plain;
    text_.append(cells, ' ');
    upper_.reset();
    lower_.reset();
  }

  const std::string& text() const { return text_; }

 private:
  std::span<const Rgb> palette_;
  std::string text_;
  std::optional<Colour> upper_;
  std::optional<Colour> lower_;
};

/// Tiles beside each other, each with its caption above it.
class TileRow {
 public:
  TileRow(std::span<const Tile> tiles, std::size_t zoom) : tiles_(tiles), zoom_(zoom) {}

  std::string text(std::span<const Rgb> palette) const {
    std::string text;
    for (const Tile& tile : tiles_)
      text += fmt::format("{:<{}}", tile.caption, width(tile) + cell_gap);
    text += '\n';
    for (std::size_t y = 0; y < height(); y += 2) {
      Line line(palette);
      for (const Tile& tile : tiles_) add(line, tile, y);
      text += line.text() + '\n';
    }
    return text;
  }

 private:
  std::size_t width(const Tile& tile) const {
    return std::max(tile.columns * zoom_, tile.caption.size());
  }

  std::size_t height() const {
    std::size_t rows = 0;
    for (const Tile& tile : tiles_) rows = std::max(rows, tile.rows);
    return rows * zoom_;
  }

  std::optional<Colour> at(const Tile& tile, std::size_t x, std::size_t y) const {
    if (y / zoom_ >= tile.rows) return std::nullopt;
    return tile.colours[y / zoom_ * tile.columns + x / zoom_];
  }

  void add(Line& line, const Tile& tile, std::size_t y) const {
    std::size_t cells = 0;
    if (y < tile.rows * zoom_) {
      for (; cells < tile.columns * zoom_; ++cells) {
        line.add(*at(tile, cells, y), at(tile, cells, y + 1));
      }
    }
    line.end(width(tile) + cell_gap - cells);
  }

  std::span<const Tile> tiles_;
  std::size_t zoom_;
};

std::string scale_text(const Scale& scale, std::span<const Rgb> palette) {
  Line line(palette);
  for (std::size_t i = 0; i < scale_cells; ++i) {
    const Colour colour = scale.ramp.at(static_cast<double>(i) / (scale_cells - 1));
    line.add(colour, colour);
  }
  line.end(1);
  return fmt::format("{} {}{}\n", scale.low, line.text(), scale.high);
}

}  // namespace

std::string blocks_of(const Figure& figure) {
  const std::vector<Rgb> colours = palette();
  const std::size_t zoom = magnification(figure, tile_cells);
  std::string text;
  for (const std::string& line : figure.heading) text += line + '\n';
  const std::span tiles(figure.tiles);
  for (std::size_t first = 0; first < tiles.size(); first += figure.across) {
    const auto row = tiles.subspan(first, std::min(figure.across, tiles.size() - first));
    text += TileRow(row, zoom).text(colours);
  }
  for (const Scale& scale : figure.scales) text += scale_text(scale, colours);
  return text;
}

}  // namespace cuszi::app

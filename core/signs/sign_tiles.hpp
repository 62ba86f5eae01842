#pragma once

#include <cstdint>

#include "core/base/dims.hpp"
#include "core/base/hd.hpp"
#include "core/base/units.hpp"

namespace cuszi {

// Signs of the points of a frame as bits, 1 for negative. They are coded in tiles of 64: 8 rows of
// 8 points of a slice or, without slices, 64 points of a row; rows of at most 8 points are one
// slice. Bit i of a tile is its point i in raster order. A tile is compared with the one before it
// in its column, which runs along the slowest axis. Symbols have 4 bits: which of four successive
// tiles differ from those, or where a nibble of such a tile differs from what is expected.

inline constexpr unsigned tile_signs = 64;
inline constexpr unsigned nibble_signs = 4;
inline constexpr unsigned tile_nibbles = tile_signs / nibble_signs;
inline constexpr std::uint32_t sign_symbols = 1U << nibble_signs;

/// How tiles cover a frame. They are numbered column by column, and stored slice by slice. Outside
/// the frame, a tile has the signs of the nearest points.
struct SignGrid {
  std::uint64_t width = 1;   ///< points of a row
  std::uint64_t height = 1;  ///< rows of a slice
  std::uint64_t slices = 1;  ///< rows, if tiles are parts of rows
  std::uint32_t log2_of_tile_width = 6;
  std::uint64_t across = 1;   ///< columns along a row
  std::uint64_t columns = 1;  ///< tiles of a slice

  static SignGrid of(const Dims& dims);

  CUSZI_HD bool is_flat() const { return log2_of_tile_width == 6; }
  CUSZI_HD std::uint32_t tile_width() const { return 1U << log2_of_tile_width; }
  CUSZI_HD std::uint32_t tile_height() const { return tile_signs >> log2_of_tile_width; }
  CUSZI_HD std::uint64_t tiles() const { return columns * slices; }
  CUSZI_HD std::uint64_t points() const { return width * height * slices; }
};

/// Reads `count` signs, at most 64, the first one lowest.
CUSZI_HD inline std::uint64_t read_signs(const std::uint64_t* words, std::uint64_t first,
                                         std::uint32_t count) {
  const auto shift = static_cast<std::uint32_t>(first % 64);
  std::uint64_t bits = words[first / 64] >> shift;
  if (shift + count > 64) bits |= words[first / 64 + 1] << (64 - shift);
  return bits & ~std::uint64_t{0} >> (64 - count);
}

/// The tile that is stored at a place, from a frame's signs.
CUSZI_HD inline std::uint64_t gather_tile(const SignGrid& grid, const std::uint64_t* signs,
                                          std::uint64_t place) {
  const std::uint64_t slice = place / grid.columns;
  const std::uint64_t column = place - slice * grid.columns;
  const std::uint64_t first_row = column / grid.across * grid.tile_height();
  const std::uint64_t x = column % grid.across << grid.log2_of_tile_width;
  const std::uint64_t left = grid.width - x;
  const std::uint32_t count =
      left < grid.tile_width() ? static_cast<std::uint32_t>(left) : grid.tile_width();
  const std::uint32_t outside = grid.tile_width() - count;
  std::uint64_t tile = 0;
  for (std::uint32_t row = grid.tile_height(); row-- > 0;) {
    const std::uint64_t y = first_row + row < grid.height ? first_row + row : grid.height - 1;
    std::uint64_t bits = read_signs(signs, (slice * grid.height + y) * grid.width + x, count);
    if (outside != 0 && bits >> (count - 1) != 0)
      bits |= ((std::uint64_t{1} << outside) - 1) << count;
    tile = grid.is_flat() ? bits : tile << 8 | bits;
  }
  return tile;
}

/// Word `number` of a frame's signs, from its tiles.
CUSZI_HD inline std::uint64_t signs_of_tiles(const SignGrid& grid, const std::uint64_t* tiles,
                                             std::uint64_t number) {
  const std::uint64_t first = number * 64;
  const std::uint64_t points = grid.points() - first;
  const std::uint32_t wanted = points < 64 ? static_cast<std::uint32_t>(points) : 64;
  const std::uint64_t row = first / grid.width;
  std::uint64_t x = first - row * grid.width;
  std::uint64_t y = row % grid.height;
  const std::uint64_t* slice = tiles + row / grid.height * grid.columns;
  std::uint64_t signs = 0;
  for (std::uint32_t done = 0; done < wanted;) {
    const std::uint32_t in_row = static_cast<std::uint32_t>(x) % grid.tile_width();
    const std::uint32_t in_column = static_cast<std::uint32_t>(y) % grid.tile_height();
    std::uint64_t count = grid.tile_width() - in_row;
    if (grid.width - x < count) count = grid.width - x;
    if (wanted - done < count) count = wanted - done;
    const std::uint64_t column =
        (y >> (6 - grid.log2_of_tile_width)) * grid.across + (x >> grid.log2_of_tile_width);
    const std::uint64_t bits = slice[column] >> (in_column * grid.tile_width() + in_row);
    signs |= (bits & ~std::uint64_t{0} >> (64 - count)) << done;
    done += static_cast<std::uint32_t>(count);
    x += count;
    if (x < grid.width) continue;
    x = 0;
    if (++y < grid.height) continue;
    y = 0;
    slice += grid.columns;
  }
  return signs;
}

/// Where a tile is stored, as one goes from tile to tile by their numbers.
struct SignTilePlace {
  std::uint64_t slice;
  std::uint64_t place;

  CUSZI_HD SignTilePlace(const SignGrid& grid, std::uint64_t number)
      : slice(number % grid.slices), place(slice * grid.columns + number / grid.slices) {}

  CUSZI_HD bool begins_column() const { return slice == 0; }
  CUSZI_HD void advance(const SignGrid& grid) {
    ++slice;
    place += grid.columns;
    if (slice < grid.slices) return;
    slice = 0;
    place -= grid.tiles() - 1;
  }
};

CUSZI_HD constexpr std::uint64_t tile_of_sign(bool is_negative) {
  return is_negative ? ~std::uint64_t{0} : 0;
}
/// What a tile is compared with: the tile before or, at the beginning of a column, the last row of
/// that, of a tile of one row its last sign, again and again.
CUSZI_HD inline std::uint64_t compared_tile(const SignGrid& grid, bool begins_column,
                                            std::uint64_t before) {
  constexpr std::uint64_t first_of_rows = 0x0101010101010101;
  if (!begins_column) return before;
  return grid.is_flat() ? tile_of_sign(before >> 63 != 0) : (before >> 56) * first_of_rows;
}

/// What a tile is expected to be. Its nibbles follow from the signs of the tile below them.
struct ExpectedTile {
  std::uint64_t signs;
  std::uint64_t last;  ///< for each nibble, four times the sign of the point before

  /// Signs are expected as in the tile compared with; below a point that differs from that, as
  /// there.
  CUSZI_HD static ExpectedTile of(bool is_flat, std::uint64_t tile, std::uint64_t compared) {
    constexpr std::uint64_t first_of_rows = 0x0101010101010101;
    constexpr std::uint64_t first_of_nibbles = 0x1111111111111111;
    const std::uint64_t first_of_lines = is_flat ? 1 : first_of_rows;
    const std::uint64_t left = (tile << 1 & ~first_of_lines) | (compared & first_of_lines);
    ExpectedTile expected{compared, (left & first_of_nibbles) * (sign_symbols - 1)};
    if (is_flat) return expected;
    const std::uint64_t above = tile << 8 | (compared & 0xFF);
    const std::uint64_t compared_above = compared << 8 | (compared & 0xFF);
    const std::uint64_t changed = above ^ compared_above;
    expected.signs = (above & changed) | (compared & ~changed);
    return expected;
  }
  /// The table of a nibble: where signs are expected to differ from the point before.
  CUSZI_HD std::uint32_t context(std::uint32_t nibble) const { return at(signs ^ last, nibble); }
  CUSZI_HD std::uint32_t wrong(std::uint64_t tile, std::uint32_t nibble) const {
    return at(signs ^ tile, nibble);
  }
  CUSZI_HD std::uint64_t corrected(std::uint32_t nibble, std::uint32_t wrong) const {
    return std::uint64_t{at(signs, nibble) ^ wrong} << (nibble_signs * nibble);
  }

 private:
  CUSZI_HD static std::uint32_t at(std::uint64_t tile, std::uint32_t nibble) {
    return static_cast<std::uint32_t>(tile >> (nibble_signs * nibble)) & (sign_symbols - 1);
  }
};

}  // namespace cuszi

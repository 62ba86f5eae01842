#pragma once

#include <cstdint>

#include "core/base/hd.hpp"
#include "core/coders/ans_slots.hpp"
#include "core/signs/sign_tiles.hpp"

namespace cuszi {

// Chains of signs: interleaved rANS by symbol tables (core/coders/symbol_tables.hpp). A lane has a
// run of successive tiles. For each group of four its symbols are which of them differ from the
// tile before, bit i for tile i, then the nibbles of those that do. Lanes whose tiles all have the
// frame's first sign have no symbols, and no state.

inline constexpr std::uint32_t tiles_of_group = 4;

/// Every lane wastes some 16 bits, and the time of a chain is that of its longest lane. Large
/// frames, which wait for chains, have shorter ones.
CUSZI_HD constexpr std::uint32_t tiles_of_lane(std::uint64_t tiles) {
  if (tiles < 1U << 16) return 256;
  return tiles < 1U << 18 ? 128 : 64;
}

inline constexpr std::uint32_t nibble_tables = sign_symbols;
inline constexpr std::uint32_t change_tables = 4;
inline constexpr std::uint32_t sign_tables = nibble_tables + change_tables;

/// The table of changes, by what the first of four tiles is compared with, and whether the tile
/// before differed from what that was compared with.
CUSZI_HD constexpr std::uint32_t table_of_changes(std::uint64_t compared, bool has_changed) {
  const bool is_uniform = compared + 1 <= 1;
  return nibble_tables + (is_uniform ? 0 : 2) + (has_changed ? 1 : 0);
}

CUSZI_HD constexpr std::uint64_t lanes_of_signs(std::uint64_t tiles) {
  return ceil_div(tiles, tiles_of_lane(tiles));
}
CUSZI_HD constexpr std::uint64_t segments_of_signs(std::uint64_t tiles) {
  return ceil_div(lanes_of_signs(tiles), most_lanes);
}

/// A symbol as its place among those of all tables.
CUSZI_HD constexpr std::uint32_t place_of_symbol(std::uint32_t table, std::uint32_t symbol) {
  return table * sign_symbols + symbol;
}
inline constexpr std::uint32_t sign_places = sign_tables * sign_symbols;
/// Tiles go on as those before, which have one sign.
inline constexpr std::uint32_t idle_symbol = place_of_symbol(nibble_tables, 0);
/// Whether a lane has a state, given how many symbols it has, and how many of them are idle.
CUSZI_HD constexpr bool lane_has_state(std::uint64_t symbols, std::uint64_t idle) {
  return idle != symbols;
}

/// The run of tiles of a lane.
struct SignRun {
  std::uint64_t first;
  std::uint32_t count = 0;
  std::uint64_t before;  ///< instead of the tile before the first

  CUSZI_HD SignRun(const SignGrid& grid, std::uint64_t lane, bool first_sign)
      : first(lane * tiles_of_lane(grid.tiles())), before(tile_of_sign(first_sign)) {
    if (first >= grid.tiles()) return;
    const std::uint64_t left = grid.tiles() - first;
    const std::uint32_t most = tiles_of_lane(grid.tiles());
    count = left < most ? static_cast<std::uint32_t>(left) : most;
  }
  CUSZI_HD std::uint32_t groups() const { return (count + tiles_of_group - 1) / tiles_of_group; }
};

/// The most symbols of a lane.
CUSZI_HD constexpr std::uint32_t most_symbols_of_lane(std::uint64_t tiles) {
  return tiles_of_lane(tiles) * tile_nibbles + tiles_of_lane(tiles) / tiles_of_group;
}

/// A group of successive tiles of a lane, and the symbols that code it.
class SignGroup {
 public:
  /// Group `number` of a run, from the tiles of the frame.
  CUSZI_HD SignGroup(const SignGrid& grid, const SignRun& run, const std::uint64_t* tiles,
                     std::uint32_t number)
      : is_flat_(grid.is_flat()) {
    const std::uint32_t first = number * tiles_of_group;
    SignTilePlace at(grid, run.first + first - (number == 0 ? 0 : 2));
    std::uint64_t before = run.before;
    bool has_changed = false;  // the tile before
    if (number != 0) {
      const std::uint64_t two_before = tiles[at.place];
      at.advance(grid);
      before = tiles[at.place];
      has_changed = before != compared_tile(grid, at.begins_column(), two_before);
      at.advance(grid);
    }
    CUSZI_UNROLL
    for (std::uint32_t i = 0; i < tiles_of_group; ++i) {
      if (first + i >= run.count) continue;
      compared_[i] = compared_tile(grid, at.begins_column(), before);
      before = tiles_[i] = tiles[at.place];
      if (tiles_[i] != compared_[i]) changes_ |= 1U << i;
      at.advance(grid);
    }
    table_ = table_of_changes(compared_[0], has_changed);
  }

  CUSZI_HD std::uint32_t symbols() const {
    std::uint32_t count = 1;
    CUSZI_UNROLL
    for (std::uint32_t i = 0; i < tiles_of_group; ++i)
      if ((changes_ >> i & 1) != 0) count += tile_nibbles;
    return count;
  }
  /// Calls put(place) for the symbols in order.
  template <class Put>
  CUSZI_HD void for_each_symbol(const Put& put) const {
    put(place_of_symbol(table_, changes_));
    CUSZI_UNROLL
    for (std::uint32_t i = 0; i < tiles_of_group; ++i) {
      if ((changes_ >> i & 1) == 0) continue;
      const ExpectedTile expected = ExpectedTile::of(is_flat_, tiles_[i], compared_[i]);
      for (std::uint32_t nibble = 0; nibble < tile_nibbles; ++nibble)
        put(place_of_symbol(expected.context(nibble), expected.wrong(tiles_[i], nibble)));
    }
  }

 private:
  bool is_flat_;
  std::uint64_t tiles_[tiles_of_group] = {};
  std::uint64_t compared_[tiles_of_group] = {};  ///< what the tiles are compared with
  std::uint32_t table_;                          ///< of changes
  std::uint32_t changes_ = 0;
};

/// The tiles of a lane, from its symbols.
class SignsForwards {
 public:
  CUSZI_HD SignsForwards(const SignGrid& grid, const SignRun& run)
      : grid_(grid),
        at_(grid, run.first),
        left_(run.count),
        compared_(compared_tile(grid, at_.begins_column(), run.before)) {}

  CUSZI_HD bool is_done() const { return left_ == 0; }
  /// The table of the next symbol.
  CUSZI_HD std::uint32_t table() const {
    return is_in_tile_ ? expected_.context(nibble_) : table_of_changes(compared_, has_changed_);
  }
  /// Calls store(place, tile) for tiles that are complete.
  template <class Store>
  CUSZI_HD void take(std::uint32_t symbol, const Store& store) {
    if (is_in_tile_) {
      tile_ |= expected_.corrected(nibble_, symbol);
      if (++nibble_ == tile_nibbles) {
        leave_tile(tile_, store);
        enter_tile(store);
      }
    } else {
      changes_ = symbol;
      in_group_ = tiles_of_group;
      enter_tile(store);
    }
    if (is_in_tile_) expected_ = ExpectedTile::of(grid_.is_flat(), tile_, compared_);
  }

 private:
  /// The next tile of the group that differs from what it is compared with, if any.
  template <class Store>
  CUSZI_HD void enter_tile(const Store& store) {
    while (has_tiles() && (changes_ & 1) == 0) leave_tile(compared_, store);
    is_in_tile_ = has_tiles();
    tile_ = 0;
    nibble_ = 0;
  }
  CUSZI_HD bool has_tiles() const { return in_group_ > 0 && left_ > 0; }
  template <class Store>
  CUSZI_HD void leave_tile(std::uint64_t tile, const Store& store) {
    store(at_.place, tile);
    has_changed_ = (changes_ & 1) != 0;
    changes_ >>= 1;
    --in_group_;
    --left_;
    at_.advance(grid_);
    compared_ = compared_tile(grid_, at_.begins_column(), tile);
  }

  const SignGrid& grid_;
  SignTilePlace at_;    ///< of the next tile
  std::uint32_t left_;  ///< tiles
  std::uint64_t compared_;
  bool has_changed_ = false;    ///< the tile before
  std::uint32_t in_group_ = 0;  ///< tiles that are left
  std::uint32_t changes_ = 0;   ///< of these
  bool is_in_tile_ = false;
  std::uint64_t tile_ = 0;  ///< its first nibbles
  std::uint32_t nibble_ = 0;
  ExpectedTile expected_{0, 0};
};

/// Stores the tiles of a lane without a state.
template <class Store>
CUSZI_HD inline void store_idle(const SignGrid& grid, const SignRun& run, const Store& store) {
  SignTilePlace at(grid, run.first);
  for (std::uint32_t i = 0; i < run.count; ++i, at.advance(grid)) store(at.place, run.before);
}

}  // namespace cuszi

#include <array>

#include "core/signs/signs.hpp"
#include "tests/slow_decoder/slow_frame.hpp"
#include "tests/slow_decoder/slow_segment.hpp"

namespace cuszi::slow {

namespace {

using Tile = std::array<bool, 64>;

/// How a frame is cut into tiles.
struct Tiling {
  std::uint64_t width;
  std::uint64_t height = 1;
  std::uint64_t slices;
  std::uint64_t rows = 1;  ///< of a tile

  explicit Tiling(const Extents3& e) : width(e[2]), slices(e[1]) {
    if (e[0] == 1 && (e[1] == 1 || e[2] > 8)) return;
    height = e[1];
    slices = e[0];
    rows = 8;
  }
  std::uint64_t in_row() const { return 64 / rows; }
  std::uint64_t across() const { return ceil_div(width, in_row()); }
  std::uint64_t of_lane() const { return tiles() < 65536 ? 256 : tiles() < 262144 ? 128 : 64; }
  std::uint64_t tiles() const { return across() * ceil_div(height, rows) * slices; }

  /// What a tile is compared with, given the tile before.
  Tile compared(std::uint64_t number, const Tile& before) const {
    Tile tile = before;
    if (number % slices == 0)
      for (std::uint64_t i = 0; i < 64; ++i) tile[i] = before[rows == 1 ? 63 : 56 + i % 8];
    return tile;
  }
  bool sign_at(const std::vector<Tile>& all, std::uint64_t point) const {
    const std::uint64_t x = point % width;
    const std::uint64_t y = point / width % height;
    const std::uint64_t column = y / rows * across() + x / in_row();
    return all[column * slices + point / width / height][y % rows * in_row() + x % in_row()];
  }
};

/// A lane that is being decoded.
class SlowLane {
 public:
  SlowLane(const Tiling& tiling, std::uint64_t first, bool first_sign)
      : tiling_(tiling), number_(first), end_(std::min(first + tiling.of_lane(), tiling.tiles())) {
    before_.fill(first_sign);
  }
  bool is_done() const { return number_ >= end_; }

  /// Takes a symbol, and the tiles that it completes.
  void take(SlowSegment& in, std::size_t state, const SignTables& tables, std::vector<Tile>& all) {
    const Tile compared = tiling_.compared(number_, before_);
    if (nibble_ == 16) {
      bool is_uniform = true;
      for (const bool sign : compared) is_uniform &= sign == compared[0];
      changes_ =
          in.take_symbol(state, tables.of[16 + (is_uniform ? 0U : 2U) + (has_changed_ ? 1U : 0U)]);
      in_group_ = 4;
    } else {
      take_nibble(compared, in, state, tables);
      if (++nibble_ < 16) return;
      leave_tile(tile_, all);
    }
    while (in_group_ > 0 && !is_done() && changes_ % 2 == 0)
      leave_tile(tiling_.compared(number_, before_), all);
    if (in_group_ > 0 && !is_done()) nibble_ = 0;
  }

 private:
  void take_nibble(const Tile& compared, SlowSegment& in, std::size_t state,
                   const SignTables& tables) {
    const std::size_t first = 4 * nibble_;
    const bool is_first_of_row = first % tiling_.in_row() == 0;
    const bool point_before = is_first_of_row ? compared[first] : tile_[first - 1];
    std::array<bool, 4> expected{};
    std::uint32_t table = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      expected[i] = expected_at(compared, first + i);
      if (expected[i] != point_before) table += 1U << i;
    }
    const std::uint32_t wrong = in.take_symbol(state, tables.of[table]);
    for (std::size_t i = 0; i < 4; ++i) tile_[first + i] = expected[i] != ((wrong >> i & 1) != 0);
  }
  bool expected_at(const Tile& compared, std::size_t i) const {
    if (tiling_.rows == 1 || i < 8 || tile_[i - 8] == compared[i - 8]) return compared[i];
    return tile_[i - 8];
  }
  void leave_tile(const Tile& tile, std::vector<Tile>& all) {
    all[number_++] = tile;
    before_ = tile;
    has_changed_ = changes_ % 2 != 0;
    changes_ /= 2;
    --in_group_;
    nibble_ = 16;
  }

  const Tiling& tiling_;
  std::uint64_t number_;  ///< of the next tile
  std::uint64_t end_;
  Tile before_{};
  bool has_changed_ = false;
  int in_group_ = 0;
  std::uint32_t changes_ = 0;
  Tile tile_{};
  std::size_t nibble_ = 16;  ///< the next one; 16 outside tiles that are coded
};

void read_segment(const Tiling& tiling, std::uint64_t first, const SignHead& head, Bytes bytes,
                  std::vector<Tile>& all) {
  ByteReader in(bytes, "a segment of signs");
  const auto present = in.get<std::uint32_t>();
  std::vector<SlowLane> lanes;
  for (std::uint64_t lane = 0; lane < 32; ++lane)
    if ((present >> lane & 1) != 0)
      lanes.emplace_back(tiling, first + tiling.of_lane() * lane, head.first_sign);
  SlowSegment segment(bytes.subspan(in.position()), lanes.size());
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i].is_done()) continue;
      lanes[i].take(segment, i, head.tables, all);
      goes_on = true;
    }
  }
  segment.check_end();
}

}  // namespace

std::vector<bool> decode_signs(Bytes section, const Dims& dims) {
  const Tiling tiling(dims.as_3d());
  const SignSection read = SignSection::read(section, section, SignGrid::of(dims));
  std::vector<bool> signs(dims.count());
  if (read.head.is_raw) {
    for (std::uint64_t i = 0; i < signs.size(); ++i)
      signs[i] = (static_cast<unsigned>(read.bits[i / 8]) >> (i % 8) & 1) != 0;
    return signs;
  }
  Tile first_sign;
  first_sign.fill(read.head.first_sign);
  std::vector<Tile> all(tiling.tiles(), first_sign);
  ByteReader sizes(read.sizes, "the sizes of segments");
  ByteReader segments(read.segments, "the segments of signs");
  for (std::uint64_t first = 0; sizes.remaining() != 0; first += 32 * tiling.of_lane()) {
    const auto size = sizes.get<std::uint32_t>();
    if (size != 0) read_segment(tiling, first, read.head, segments.take(size), all);
  }
  segments.expect_end();
  for (std::uint64_t i = 0; i < signs.size(); ++i) signs[i] = tiling.sign_at(all, i);
  return signs;
}

}  // namespace cuszi::slow

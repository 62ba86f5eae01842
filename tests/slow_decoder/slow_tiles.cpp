#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/tiles/tile_words.hpp"
#include "tests/slow_decoder/slow_frame.hpp"

namespace cuszi::slow {

namespace {

constexpr std::size_t pair_bytes = 8;  ///< of a lane: two planes of four groups

template <class T, class Shape>
class SlowTile {
 public:
  /// `map`: of tiles of words, else null.
  SlowTile(const TilesParams& params, const TileWordMap* map, SlowFrame<T>& frame,
           const TileGrid& grid, std::uint64_t number)
      : params_(params), map_(map), frame_(frame), grid_(grid), first_(grid.first(number)) {}

  void restore(const TileHead& head, ByteReader& words, ByteReader& bytes) {
    if (head.raw) {
      for (int point = 0; point < 32; ++point)
        for (int lane = 0; lane < 32; ++lane) put(lane, point, words.get<T>());
      return;
    }
    read_whole_pairs(head, words);
    std::vector<std::uint32_t> having;
    for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair)
      having.push_back(words.get<std::uint32_t>());
    std::uint64_t base = 0;
    for (std::uint32_t i = 0; i < head.base_bytes; ++i)
      base |= std::uint64_t{bytes.get<std::uint8_t>()} << (8 * i);
    if (log() != nullptr) {
      read_signs(base, bytes);
      base /= 8;
    }
    read_other_pairs(head, having, bytes);
    sum_up(head.axes);
    if (map_ != nullptr) return put_words(base, head);
    const std::uint32_t first = unzigzag32(static_cast<std::uint32_t>(base));
    for (int lane = 0; lane < 32; ++lane)
      for (int point = 0; point < 32; ++point)
        put(lane, point, value_of(integer(lane, point) + first, lane, point));
    if (head.patched) patch(bytes);
  }

 private:
  void put_words(std::uint64_t base, const TileHead& head) {
    if (head.patched) throw ArchiveError("a tile of words has patches");
    const auto zeros = static_cast<std::uint32_t>(base % 32);
    const std::uint32_t first = unzigzag32(static_cast<std::uint32_t>(base / 32));
    for (int lane = 0; lane < 32; ++lane)
      for (int point = 0; point < 32; ++point)
        put(lane, point,
            std::bit_cast<T>(BitsOf<T>{map_->bits_of(integer(lane, point) + first, zeros)}));
  }

  const LogTransform* log() const {
    const auto& transform = frame_.header.transform;
    return transform ? std::get_if<LogTransform>(&transform->params) : nullptr;
  }

  void read_signs(std::uint64_t base, ByteReader& bytes) {
    negative_.assign(32, base % 2 != 0 ? ~0U : 0);
    if (base / 2 % 2 == 0) return;
    const auto all_of_lane = bytes.get<std::uint32_t>();
    const auto some_of_lane = bytes.get<std::uint32_t>();
    for (unsigned lane = 0; lane < 32; ++lane) {
      negative_[lane] = (all_of_lane >> lane & 1) != 0 ? ~0U : 0;
      if ((some_of_lane >> lane & 1) != 0) negative_[lane] = bytes.get<std::uint32_t>();
    }
  }

  /// Puts a byte of a pair of planes, by its number among the lane's eight, in place.
  void add_byte(int lane, std::uint32_t pair, std::size_t number, std::uint32_t byte) {
    for (int bit = 0; bit < 8; ++bit) {
      const int point = Shape::point_of(static_cast<int>(number / 2), bit);
      integer(lane, point) |= ((byte >> bit) & 1) << (2 * pair + number % 2);
    }
  }

  void read_whole_pairs(const TileHead& head, ByteReader& words) {
    for (std::uint32_t pair = 0; pair < head.dense; ++pair)
      for (std::size_t half = 0; half < pair_bytes; half += 4)
        for (int lane = 0; lane < 32; ++lane)
          for (std::size_t i = 0; i < 4; ++i)
            add_byte(lane, pair, half + i, words.get<std::uint8_t>());
  }

  void read_other_pairs(const TileHead& head, const std::vector<std::uint32_t>& having,
                        ByteReader& bytes) {
    std::vector<std::array<std::uint8_t, 32>> flags(having.size());
    for (std::size_t i = 0; i < having.size(); ++i)
      for (std::size_t lane = 0; lane < 32; ++lane)
        flags[i].at(lane) = ((having[i] >> lane) & 1) != 0 ? bytes.get<std::uint8_t>() : 0;
    for (int lane = 0; lane < 32; ++lane)
      for (std::size_t i = 0; i < having.size(); ++i)
        for (std::size_t number = 0; number < pair_bytes; ++number)
          if (((flags[i].at(static_cast<std::size_t>(lane)) >> number) & 1) != 0)
            add_byte(lane, head.dense + static_cast<std::uint32_t>(i), number,
                     bytes.get<std::uint8_t>());
  }

  void sum_up(std::uint32_t axes) {
    std::vector<std::uint32_t> sums(tile_points);
    for_each_point([&](int lane, int point, std::uint64_t at) {
      sums.at(at) = unzigzag32(integer(lane, point));
    });
    const Extents3& e = Shape::extents;
    const Extents3 strides{e[1] * e[2], e[2], 1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (((axes >> (2 - axis)) & 1) == 0) continue;
      for (std::uint64_t at = 0; at < tile_points; ++at)
        if (coordinates_of(at, e).at(axis) != 0) sums[at] += sums[at - strides.at(axis)];
    }
    for_each_point(
        [&](int lane, int point, std::uint64_t at) { integer(lane, point) = sums.at(at); });
  }

  template <class F>
  void for_each_point(const F& f) {
    for (int lane = 0; lane < 32; ++lane)
      for (int point = 0; point < 32; ++point)
        f(lane, point,
          point_at({static_cast<std::uint64_t>(Shape::coordinate(lane, point, 0)),
                    static_cast<std::uint64_t>(Shape::coordinate(lane, point, 1)),
                    static_cast<std::uint64_t>(Shape::coordinate(lane, point, 2))},
                   Shape::extents));
  }

  T value_of(std::uint32_t integer, int lane, int point) const {
    const TileQuantizer<T> quantizer(params_.half_step);
    const T seen = quantizer.restored(integer);
    if (log() == nullptr) {
      return clamp_restored(seen, static_cast<T>(frame_.header.min),
                            static_cast<T>(frame_.header.max));
    }
    const T magnitude = log()->inverse(seen);
    const bool negative = (negative_.at(static_cast<std::size_t>(lane)) >> point & 1) != 0;
    return std::clamp(negative ? -magnitude : magnitude, static_cast<T>(frame_.min),
                      static_cast<T>(frame_.max));
  }

  void patch(ByteReader& bytes) {
    std::vector<std::uint16_t> places(bytes.get<std::uint16_t>());
    for (std::uint16_t& place : places) place = bytes.get<std::uint16_t>();
    for (const std::uint16_t place : places) put(place / 32, place % 32, bytes.get<T>());
  }

  void put(int lane, int point, T value) {
    const auto place = grid_.template place_of<Shape>(first_, lane, point);
    if (place.inside) frame_.values.at(place.index) = value;
  }

  std::uint32_t& integer(int lane, int point) {
    return integers_.at(static_cast<std::size_t>(lane * 32 + point));
  }

  const TilesParams& params_;
  const TileWordMap* map_;
  SlowFrame<T>& frame_;
  const TileGrid& grid_;
  Extents3 first_;
  std::vector<std::uint32_t> integers_ = std::vector<std::uint32_t>(tile_points);
  std::vector<std::uint32_t> negative_;  ///< points of each lane, as bits
};

template <class T>
void restore_tiles(const TilesParams& params, const TileWordMap* map, SlowFrame<T>& frame) {
  with_tile_shape(frame.extents, [&](auto shape) {
    using Shape = decltype(shape);
    const TileGrid grid = TileGrid::of<T, Shape>(frame.extents);
    const Bytes codes = frame.passes.front().at(SectionId::codes);
    ByteReader index(frame.passes.front().at(SectionId::index), "the index");
    for (std::uint64_t first = 0; first < grid.count; first += chunk_tiles<T>) {
      ByteReader heads(codes.subspan(std::uint64_t{4} * index.get<std::uint32_t>()), "a chunk");
      const std::uint64_t end = std::min<std::uint64_t>(first + chunk_tiles<T>, grid.count);
      std::vector<TileHead> tiles;
      ByteCount word_bytes = 0;
      for (std::uint64_t tile = first; tile < end; ++tile) {
        tiles.push_back(TileHead::from(heads.get<std::uint32_t>()));
        word_bytes += 4 * tiles.back().words(sizeof(T));
      }
      ByteReader words(heads.take(word_bytes), "the words of a chunk");
      for (std::uint64_t tile = first; tile < end; ++tile) {
        const TileHead& head = tiles[tile - first];
        ByteReader bytes(heads.take(head.bytes), "the bytes of a tile");
        SlowTile<T, Shape>(params, map, frame, grid, tile).restore(head, words, bytes);
        bytes.expect_end();
      }
    }
  });
}

}  // namespace

template <class T>
void restore(const TilesParams& params, SlowFrame<T>& frame) {
  restore_tiles(params, nullptr, frame);
}

void restore_words(DType stored, SlowFrame<float>& frame) {
  const TileWordMap map(stored);
  restore_tiles({}, &map, frame);
}

template void restore(const TilesParams&, SlowFrame<float>&);
template void restore(const TilesParams&, SlowFrame<double>&);

}  // namespace cuszi::slow

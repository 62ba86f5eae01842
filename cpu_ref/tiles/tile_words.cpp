#include "cpu_ref/tiles/tile_words.hpp"

#include "cpu_ref/tiles/tile_plane_reader.hpp"
#include "cpu_ref/tiles/tile_planes.hpp"

namespace cuszi::cpu {

namespace {

template <class Shape>
class WordTileEncoder : private TilePlanes<Shape> {
 public:
  WordTileEncoder(const TileGrid& grid, const TileWordMap& map, const std::uint32_t* values)
      : grid_(grid), rows_(grid), map_(map), values_(values) {}

  void code(std::uint64_t tile, ChunkWriter& out) {
    rows_.load(values_, grid_.first(tile), bits_);
    find_zeros();
    make_words();
    Planes::choose_axes();
    write(out);
  }

 private:
  using Planes = TilePlanes<Shape>;
  using Planes::integer_;

  void find_zeros() {
    Lanes any = {};
    for (const Lanes& lanes : bits_)
      for (unsigned lane = 0; lane < tile_lanes; ++lane) any[lane] |= lanes[lane];
    std::uint32_t all = 0;
    for (const std::uint32_t lane : any) all |= lane;
    base_.zeros = low_zeros_of(all);
  }

  void make_words() {
    const TileWordMap map = map_;
    const std::uint32_t zeros = base_.zeros;
    const std::uint32_t first = map.word_of(bits_[0][0], zeros);
    for (unsigned point = 0; point < lane_points; ++point)
      for (unsigned lane = 0; lane < tile_lanes; ++lane)
        integer_[point][lane] = map.word_of(bits_[point][lane], zeros) - first;
    base_.first = first;
  }

  void write(ChunkWriter& out) {
    TileHead head = Planes::plan();
    const std::uint64_t base = base_.word();
    head.base_bytes = base_bytes_of(base);
    head.bytes += head.base_bytes;
    if (4 * head.words(0) + head.bytes >= sizeof bits_) {
      head = {};
      head.raw = true;
      out.add_head(head);
      out.add_words({&bits_[0][0], tile_points});
      return;
    }
    out.add_head(head);
    Planes::write_words(head, out);
    out.add_bytes(base, head.base_bytes);
    Planes::write_bytes(head, out);
  }

  const TileGrid& grid_;
  TileRows<Shape> rows_;
  TileWordMap map_;
  const std::uint32_t* values_;
  LanePoints bits_;
  TileWordBase base_;
};

template <class Shape>
class WordTileDecoder : private TilePlaneReader<Shape> {
 public:
  WordTileDecoder(const TileGrid& grid, const TileWordMap& map, std::uint32_t* values)
      : grid_(grid), rows_(grid), map_(map), values_(values) {}

  void restore(std::uint64_t tile, const TileView& view) {
    if (view.head.raw) {
      std::memcpy(bits_, view.words, sizeof bits_);
    } else {
      const auto base = TileWordBase::from(Planes::begin(view));
      Planes::read_integers(view);
      Planes::bytes_.expect_end();
      make_bits(base);
    }
    rows_.store(bits_, grid_.first(tile), values_);
  }

 private:
  using Planes = TilePlaneReader<Shape>;
  using Planes::integer_;

  void make_bits(const TileWordBase& base) {
    const TileWordMap map = map_;
    for (unsigned point = 0; point < lane_points; ++point)
      for (unsigned lane = 0; lane < tile_lanes; ++lane)
        bits_[point][lane] = map.bits_of(integer_[point][lane] + base.first, base.zeros);
  }

  const TileGrid& grid_;
  TileRows<Shape> rows_;
  TileWordMap map_;
  std::uint32_t* values_;
  LanePoints bits_;
};

}  // namespace

std::vector<OwnedSection> encode_words(const FrameShape& shape, Bytes values) {
  const TileWordMap map(shape.dtype);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(values.data());
  return with_tile_shape(shape.extents(), [&](auto tile_shape) {
    using Shape = decltype(tile_shape);
    const auto grid = TileGrid::of<std::uint32_t, Shape>(shape.extents());
    return code_chunks<std::uint32_t>(
        grid, [&] { return WordTileEncoder<Shape>(grid, map, words); }, [](const auto&) {});
  });
}

void decode_words(const FrameShape& shape, const Sections& sections, MutableBytes values) {
  const TileWordMap map(shape.dtype);
  auto* const words = reinterpret_cast<std::uint32_t*>(values.data());
  with_tile_shape(shape.extents(), [&](auto tile_shape) {
    using Shape = decltype(tile_shape);
    const auto grid = TileGrid::of<std::uint32_t, Shape>(shape.extents());
    decode_chunks<std::uint32_t>(grid, sections,
                                 [&] { return WordTileDecoder<Shape>(grid, map, words); });
  });
}

}  // namespace cuszi::cpu

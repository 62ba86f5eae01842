#include <cstring>

#include "core/error.hpp"
#include "cpu_ref/parallel.hpp"
#include "cpu_ref/tile_lanes.hpp"
#include "cpu_ref/tiles.hpp"

namespace cuszi::cpu {

namespace {

constexpr const char* damaged = "the tiles of a frame do not fit their chunks";

/// Where a tile's words and bytes lie.
struct TileView {
  TileHead head;
  const std::byte* words;
  const std::byte* bytes;

  std::uint32_t word(std::uint32_t i) const {
    std::uint32_t result;
    std::memcpy(&result, words + 4 * i, 4);
    return result;
  }
};

/// Bytes of a tile, read one after the other; the size has been checked to hold them.
class ByteCursor {
 public:
  ByteCursor(const std::byte* bytes, std::uint32_t size) : at_(bytes), end_(bytes + size) {}

  std::uint64_t take(std::uint32_t count) {
    require(count);
    std::uint64_t bits = 0;
    std::memcpy(&bits, at_, count);
    at_ += count;
    return bits;
  }
  const std::byte* skip(std::uint32_t count) {
    require(count);
    at_ += count;
    return at_ - count;
  }
  void expect_end() const {
    if (at_ != end_) throw ArchiveError(damaged);
  }

 private:
  void require(std::uint32_t count) const {
    if (count > static_cast<std::size_t>(end_ - at_)) throw ArchiveError(damaged);
  }

  const std::byte* at_;
  const std::byte* end_;
};

template <class T, class Shape>
class TileDecoder {
 public:
  TileDecoder(const TileGrid& grid, const TilesParams& params, const FrameOutput<T>& frame)
      : grid_(grid),
        quantizer_(params.half_step),
        min_(static_cast<T>(frame.min)),
        max_(static_cast<T>(frame.max)),
        values_(frame.values.data()) {}

  void restore(std::uint64_t tile, const TileView& view) {
    const Extents3 first = grid_.first(tile);
    if (view.head.raw) {
      restore_raw(first, view);
      return;
    }
    ByteCursor bytes(view.bytes, view.head.bytes);
    const auto base = unzigzag32(static_cast<std::uint32_t>(bytes.take(view.head.base_bytes)));
    read_planes(view, bytes);
    make_integers(view.head.pairs);
    sum_up(view.head.axes);
    for (unsigned point = 0; point < lane_points; ++point)
      for (unsigned lane = 0; lane < tile_lanes; ++lane)
        value_[point][lane] =
            clamp_restored(quantizer_.restored(integer_[point][lane] + base), min_, max_);
    if (view.head.patched) put_patches(bytes);
    bytes.expect_end();
    store(first);
  }

 private:
  using Bits = BitsOf<T>;

  void restore_raw(const Extents3& first, const TileView& view) {
    static_assert(sizeof value_ == tile_points * sizeof(T));
    std::memcpy(value_, view.words, sizeof value_);
    store(first);
  }

  void read_planes(const TileView& view, ByteCursor& bytes) {
    const TileHead& head = view.head;
    for (std::uint32_t pair = 0; pair < head.dense; ++pair)
      std::memcpy(plane_[pair], view.words + std::size_t{pair} * sizeof plane_[pair],
                  sizeof plane_[pair]);
    for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair) {
      const std::uint32_t lanes = view.word(head.dense * 2 * tile_lanes + pair - head.dense);
      const std::byte* flags = bytes.skip(static_cast<std::uint32_t>(std::popcount(lanes)));
      std::memset(flags_[pair], 0, sizeof flags_[pair]);
      for (std::uint32_t left = lanes; left != 0; left &= left - 1)
        flags_[pair][std::countr_zero(left)] = static_cast<std::uint8_t>(*flags++);
    }
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair) {
        std::uint64_t word = 0;
        const std::uint32_t flags = flags_[pair][lane];
        if (flags != 0) {
          const std::byte* from = bytes.skip(static_cast<std::uint32_t>(std::popcount(flags)));
          for (std::uint32_t left = flags; left != 0; left &= left - 1)
            word |= std::uint64_t{static_cast<std::uint8_t>(*from++)}
                    << (8 * std::countr_zero(left));
        }
        plane_[pair][0][lane] = static_cast<std::uint32_t>(word);
        plane_[pair][1][lane] = static_cast<std::uint32_t>(word >> 32);
      }
    }
    for (std::uint32_t pair = head.pairs; pair % 4 != 0; ++pair)
      std::memset(plane_[pair], 0, sizeof plane_[pair]);
  }

  void make_integers(std::uint32_t pairs) {
    if (pairs == 0) std::memset(integer_, 0, sizeof integer_);
    for (unsigned slice = 0; 4 * slice < pairs; ++slice) {
      for (int group = 0; group < 4; ++group) {
        const int half = group / 2;
        const int shift = 16 * (group % 2);
        for (unsigned lane = 0; lane < tile_lanes; ++lane) {
          const auto pair = [&](unsigned i) {
            return (plane_[4 * slice + i][half][lane] >> shift) & 0xFFFF;
          };
          std::uint32_t low = pair(0) | pair(1) << 16;
          std::uint32_t high = pair(2) | pair(3) << 16;
          transpose_bits(low, high);
          for (int bit = 0; bit < 8; ++bit) {
            const std::uint32_t byte = ((bit < 4 ? low : high) >> (8 * (bit % 4))) & 255;
            std::uint32_t& integer = integer_[Shape::point_of(group, bit)][lane];
            integer = slice == 0 ? byte : integer | byte << (8 * slice);
          }
        }
      }
    }
    for (auto& lanes : integer_)
      for (std::uint32_t& integer : lanes) integer = unzigzag32(integer);
  }

  void sum_up(std::uint32_t axes) {
    if ((axes & 4) != 0) sum<Shape, 0>(integer_);
    if ((axes & 2) != 0) sum<Shape, 1>(integer_);
    if ((axes & 1) != 0) sum<Shape, 2>(integer_);
  }

  void put_patches(ByteCursor& bytes) {
    const auto count = static_cast<std::uint32_t>(bytes.take(2));
    const std::byte* positions = bytes.skip(2 * count);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint16_t position;
      std::memcpy(&position, positions + 2 * i, 2);
      const auto bits = static_cast<Bits>(bytes.take(sizeof(T)));
      if (position >= tile_points) throw ArchiveError(damaged);
      value_[position % lane_points][position / lane_points] = std::bit_cast<T>(bits);
    }
  }

  void store(const Extents3& first) {
    constexpr unsigned width = Shape::block(2);
    const auto is_whole = [&](unsigned axis) {
      return first[axis] + Shape::extents[axis] <= grid_.extents[axis];
    };
    if (is_whole(0) && is_whole(1) && is_whole(2)) {
      for_each_row<Shape>(grid_.extents, first,
                          [&](int point, int lane, std::uint64_t to, std::uint64_t /*left*/) {
                            for (unsigned x = 0; x < width; ++x)
                              values_[to + x] = value_[static_cast<unsigned>(point) + x][lane];
                          });
      return;
    }
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      for (unsigned point = 0; point < lane_points; ++point) {
        const auto place =
            grid_.template place_of<Shape>(first, static_cast<int>(lane), static_cast<int>(point));
        if (place.inside) values_[place.index] = value_[point][lane];
      }
    }
  }

  const TileGrid& grid_;
  TileQuantizer<T> quantizer_;
  T min_;
  T max_;
  T* values_;
  T value_[lane_points][tile_lanes];
  LanePoints integer_;
  Lanes plane_[TileHead::max_pairs][2];
  std::uint8_t flags_[TileHead::max_pairs][tile_lanes];
};

/// The tiles of a chunk; throws if they do not fill it.
template <class T>
void split_chunk(Bytes chunk, std::uint64_t tiles, TileView* views) {
  constexpr std::uint32_t value_words = sizeof(T) / 4;
  std::uint64_t words = tiles;
  if (chunk.size() < 4 * words) throw ArchiveError(damaged);
  for (std::uint64_t i = 0; i < tiles; ++i) {
    std::uint32_t word;
    std::memcpy(&word, chunk.data() + 4 * i, 4);
    views[i].head = TileHead::from(word);
    if (!views[i].head.is_valid()) throw ArchiveError(damaged);
    views[i].words = chunk.data() + 4 * words;
    words += views[i].head.words(value_words);
  }
  std::uint64_t bytes = 4 * words;
  for (std::uint64_t i = 0; i < tiles; ++i) {
    views[i].bytes = chunk.data() + bytes;
    bytes += views[i].head.bytes;
  }
  if (chunk.size() != 4 * ceil_div(bytes, 4)) throw ArchiveError(damaged);
}

}  // namespace

template <class T>
void decode_values(const TilesParams& params, const Sections& sections,
                   const FrameOutput<T>& frame) {
  const Bytes index = sections.at(SectionId::index);
  const Bytes codes = sections.at(SectionId::codes);
  with_tile_shape(frame.extents, [&](auto shape) {
    using Decoder = TileDecoder<T, decltype(shape)>;
    const TileGrid grid = TileGrid::of<T, decltype(shape)>(frame.extents);
    if (index.size() != 4 * grid.chunks || codes.size() % 4 != 0) throw ArchiveError(damaged);
    const auto begin_of = [&](std::uint64_t chunk) -> std::uint64_t {
      if (chunk == grid.chunks) return codes.size();
      std::uint32_t word;
      std::memcpy(&word, index.data() + 4 * chunk, 4);
      return std::uint64_t{word} * 4;
    };
    if (begin_of(0) != 0) throw ArchiveError(damaged);
    parallel_for(
        grid.chunks, [&] { return Decoder(grid, params, frame); },
        [&](Decoder& decoder, std::uint64_t chunk) {
          const std::uint64_t begin = begin_of(chunk);
          const std::uint64_t end = begin_of(chunk + 1);
          if (begin > end || end > codes.size()) throw ArchiveError(damaged);
          const std::uint64_t first = chunk * chunk_tiles<T>;
          const std::uint64_t tiles = std::min<std::uint64_t>(grid.count - first, chunk_tiles<T>);
          TileView views[chunk_tiles<T>];
          split_chunk<T>(codes.subspan(begin, end - begin), tiles, views);
          for (std::uint64_t i = 0; i < tiles; ++i) decoder.restore(first + i, views[i]);
        },
        [](const Decoder&) {});
  });
}

template void decode_values(const TilesParams&, const Sections&, const FrameOutput<float>&);
template void decode_values(const TilesParams&, const Sections&, const FrameOutput<double>&);

}  // namespace cuszi::cpu

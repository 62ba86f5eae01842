#pragma once

#include <bit>
#include <cstring>

#include "core/base/error.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/wide_vectors.hpp"
#include "cpu_ref/field/frame_work.hpp"
#include "cpu_ref/tiles/tile_bytes.hpp"
#include "cpu_ref/tiles/tile_lanes.hpp"

namespace cuszi::cpu {

inline constexpr const char* damaged_tiles = "the tiles of a frame do not fit their chunks";

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

class TileBytes {
 public:
  /// Copies the bytes, so that reading past the end is safe.
  void hold(const std::byte* bytes, std::uint32_t size) {
    std::memcpy(bytes_, bytes, size);
    size_ = size;
    at_ = 0;
  }

  /// Up to eight bytes from `offset` on; unspecified past the end.
  std::uint64_t look(std::uint32_t offset = 0, std::uint32_t count = 8) const {
    std::uint64_t bits;
    std::memcpy(&bits, bytes_ + at_ + offset, sizeof bits);
    return count == 8 ? bits : bits & ((std::uint64_t{1} << (8 * count)) - 1);
  }
  void skip(std::uint32_t count) { at_ += count; }

  std::uint64_t take(std::uint32_t count) {
    const std::uint64_t bits = look(0, count);
    skip(count);
    return bits;
  }
  /// Throws ArchiveError if fewer bytes are left.
  void require(std::uint32_t count) const {
    if (at_ > size_ || count > size_ - at_) throw ArchiveError(damaged_tiles);
  }
  void expect_end() const {
    if (at_ != size_) throw ArchiveError(damaged_tiles);
  }

 private:
  static constexpr std::uint32_t most_of_planes = TileHead::max_pairs * tile_lanes * (1 + 8);

  std::uint32_t size_ = 0;
  std::uint32_t at_ = 0;
  std::byte bytes_[TileHead::max_bytes + 4 + TileSigns::most_bytes + most_of_planes + 8] = {};
};

/// Restores the integers of a tile from bit planes of differences.
template <class Shape>
class TilePlaneReader {
 protected:
  /// Returns the base.
  std::uint64_t begin(const TileView& view) {
    bytes_.hold(view.bytes, view.head.bytes);
    return bytes_.take(view.head.base_bytes);
  }

  void read_integers(const TileView& view) {
    read_planes(view);
    make_integers(view.head.pairs);
    sum_up(view.head.axes);
  }

  TileBytes bytes_;
  LanePoints integer_;

 private:
  void read_planes(const TileView& view) {
    const TileHead& head = view.head;
    std::memcpy(plane_, view.words, head.dense * sizeof plane_[0]);
    const std::uint32_t end = (head.pairs + 3) / 4 * 4;
    std::memset(plane_[head.dense], 0, (end - head.dense) * sizeof plane_[0]);
    std::uint32_t any = 0;
    for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair) {
      const std::uint32_t lanes = view.word(head.dense * 2 * tile_lanes + pair - head.dense);
      any |= lanes;
      for (unsigned lane = 0; lane < tile_lanes; lane += 8) {
        const std::uint32_t having = (lanes >> lane) & 255;
        const std::uint64_t flags = FlaggedBytes::scatter(bytes_.look(), having);
        std::memcpy(&flags_[pair][lane], &flags, sizeof flags);
        bytes_.skip(FlaggedBytes::count(having));
      }
    }
    for (; any != 0; any &= any - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(any));
      for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair) {
        const std::uint32_t flags = flags_[pair][lane];
        const std::uint64_t word = FlaggedBytes::scatter(bytes_.look(), flags);
        plane_[pair][0][lane] = static_cast<std::uint32_t>(word);
        plane_[pair][1][lane] = static_cast<std::uint32_t>(word >> 32);
        bytes_.skip(FlaggedBytes::count(flags));
      }
    }
  }

  static void take_apart(const Lanes (*pairs)[2], int group, Lanes (&bytes)[8]) {
    const int shift = 16 * (group % 2);
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      const auto pair = [&](unsigned i) { return (pairs[i][group / 2][lane] >> shift) & 0xFFFF; };
      std::uint32_t low = pair(0) | pair(1) << 16;
      std::uint32_t high = pair(2) | pair(3) << 16;
      transpose_bits(low, high);
      for (int bit = 0; bit < 8; ++bit)
        bytes[bit][lane] = ((bit < 4 ? low : high) >> (8 * (bit % 4))) & 255;
    }
  }

  void make_integers(std::uint32_t pairs) {
    if (pairs == 0) std::memset(integer_, 0, sizeof integer_);
    for (unsigned slice = 0; 4 * slice < pairs; ++slice) {
      for (int group = 0; group < 4; ++group) {
        Lanes bytes[8];
        take_apart(&plane_[4 * slice], group, bytes);
        for (int bit = 0; bit < 8; ++bit) {
          Lanes& integers = integer_[Shape::point_of(group, bit)];
          for (unsigned lane = 0; lane < tile_lanes; ++lane) {
            const std::uint32_t byte = bytes[bit][lane] << (8 * slice);
            integers[lane] = slice == 0 ? byte : integers[lane] | byte;
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

  Lanes plane_[TileHead::max_pairs][2];
  std::uint8_t flags_[TileHead::max_pairs][tile_lanes];
};

/// Throws ArchiveError unless the tiles fill the chunk.
template <class T>
void split_chunk(Bytes chunk, std::uint64_t tiles, TileView* views) {
  std::uint64_t words = tiles;
  if (chunk.size() < 4 * words) throw ArchiveError(damaged_tiles);
  for (std::uint64_t i = 0; i < tiles; ++i) {
    std::uint32_t word;
    std::memcpy(&word, chunk.data() + 4 * i, 4);
    views[i].head = TileHead::from(word);
    if (!views[i].head.is_valid()) throw ArchiveError(damaged_tiles);
    views[i].words = chunk.data() + 4 * words;
    words += views[i].head.words(sizeof(T));
  }
  std::uint64_t bytes = 4 * words;
  for (std::uint64_t i = 0; i < tiles; ++i) {
    views[i].bytes = chunk.data() + bytes;
    bytes += views[i].head.bytes;
  }
  if (chunk.size() != 4 * ceil_div(bytes, 4)) throw ArchiveError(damaged_tiles);
}

/// Restores all tiles of a frame of values of type T, by decoders that `make` returns. Throws
/// ArchiveError.
template <class T, class Make>
void decode_chunks(const TileGrid& grid, const Sections& sections, const Make& make) {
  const Bytes index = sections.at(SectionId::index);
  const Bytes codes = sections.at(SectionId::codes);
  if (index.size() != 4 * grid.chunks || codes.size() % 4 != 0) throw ArchiveError(damaged_tiles);
  const auto begin_of = [&](std::uint64_t chunk) -> std::uint64_t {
    if (chunk == grid.chunks) return codes.size();
    std::uint32_t word;
    std::memcpy(&word, index.data() + 4 * chunk, 4);
    return std::uint64_t{word} * 4;
  };
  if (begin_of(0) != 0) throw ArchiveError(damaged_tiles);
  parallel_for(
      grid.chunks, make,
      [&](auto& decoder, std::uint64_t chunk) {
        const std::uint64_t begin = begin_of(chunk);
        const std::uint64_t end = begin_of(chunk + 1);
        if (begin > end || end > codes.size()) throw ArchiveError(damaged_tiles);
        const std::uint64_t first = chunk * chunk_tiles<T>;
        const std::uint64_t tiles = std::min<std::uint64_t>(grid.count - first, chunk_tiles<T>);
        TileView views[chunk_tiles<T>];
        split_chunk<T>(codes.subspan(begin, end - begin), tiles, views);
        with_wide_vectors([&] {
          for (std::uint64_t i = 0; i < tiles; ++i) decoder.restore(first + i, views[i]);
        });
      },
      [](const auto&) {});
}

}  // namespace cuszi::cpu

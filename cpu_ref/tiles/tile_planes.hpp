#pragma once

#include <bit>
#include <cstring>

#include "cpu_ref/tiles/tile_bytes.hpp"
#include "cpu_ref/tiles/tile_chunks.hpp"
#include "cpu_ref/tiles/tile_lanes.hpp"

namespace cuszi::cpu {

/// Flags of nonzero bytes, by group and lane.
using Unions = Lanes[4];

/// Population count that vectorises.
inline std::uint32_t count_ones(std::uint32_t x) {
  x -= (x >> 1) & 0x55555555U;
  x = (x & 0x33333333U) + ((x >> 2) & 0x33333333U);
  x = (x + (x >> 4)) & 0x0F0F0F0FU;
  x += x >> 8;
  return (x + (x >> 16)) & 63;
}

inline std::uint32_t count_ones(const Unions& unions) {
  std::uint32_t total = 0;
  for (const Lanes& lanes : unions)
    for (const std::uint32_t lane : lanes) total += count_ones(lane);
  return total;
}

template <class Shape>
void unite_groups(const LanePoints& integers, Unions& unions) {
  for (int group = 0; group < 4; ++group) {
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      ZigzagUnion all;
      for (int bit = 0; bit < 8; ++bit) all.add(integers[Shape::point_of(group, bit)][lane]);
      unions[group][lane] = all.get();
    }
  }
}

/// Codes the integers of a tile: differences along the axes that give the fewest bytes, then bit
/// planes.
template <class Shape>
class TilePlanes {
 protected:
  void choose_axes() {
    std::uint32_t best = ~0U;
    const auto attempt = [&](std::uint32_t axes, const LanePoints& differences) {
      Unions unions;
      unite_groups<Shape>(differences, unions);
      const std::uint32_t ones = count_ones(unions);
      if (ones > best) return;
      best = ones;
      axes_ = axes;
      kept_ = &differences;
      std::memcpy(union_, unions, sizeof unions);
    };
    if constexpr (Shape::extents[0] == 1) attempt(0, integer_);
    difference<Shape, 2>(integer_, along_x_);
    attempt(1, along_x_);
    if constexpr (Shape::extents[1] > 1) {
      difference<Shape, 1>(along_x_, along_xy_);
      attempt(3, along_xy_);
    }
    if constexpr (Shape::extents[0] > 1) {
      difference<Shape, 0>(along_xy_, along_xyz_);
      attempt(7, along_xyz_);
    }
  }

  /// Flags nonzero bytes. Returns a head with the bytes of the planes.
  TileHead plan() {
    std::uint32_t all = 0;
    for (const Lanes& lanes : union_)
      for (const std::uint32_t lane : lanes) all |= lane;
    TileHead head;
    head.pairs = pairs_of(all);
    head.axes = axes_;
    for (std::uint32_t pair = 0; pair < head.pairs; ++pair) {
      const std::uint32_t bytes = look_at_pair(pair);
      if (pair == head.dense && sparse_pair_bytes + bytes >= dense_pair_bytes)
        ++head.dense;
      else
        head.bytes += bytes;
    }
    return head;
  }

  void write_words(const TileHead& head, ChunkWriter& out) {
    make_planes(head.pairs);
    out.add_words({&plane_[0][0][0], head.dense * 2 * std::size_t{tile_lanes}});
    out.add_words({&lanes_[head.dense], head.pairs - head.dense});
  }

  void write_bytes(const TileHead& head, ChunkWriter& out) const {
    std::uint32_t any = 0;
    for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair) {
      any |= lanes_[pair];
      for (unsigned lane = 0; lane < tile_lanes; lane += 8) {
        std::uint64_t flags;
        std::memcpy(&flags, &flags_[pair][lane], sizeof flags);
        const std::uint32_t having = (lanes_[pair] >> lane) & 255;
        out.add_bytes(FlaggedBytes::gather(flags, having), FlaggedBytes::count(having));
      }
    }
    for (; any != 0; any &= any - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(any));
      for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair) {
        const std::uint64_t bytes = plane_[pair][0][lane] | std::uint64_t{plane_[pair][1][lane]}
                                                                << 32;
        const std::uint32_t flags = flags_[pair][lane];
        out.add_bytes(FlaggedBytes::gather(bytes, flags), FlaggedBytes::count(flags));
      }
    }
  }

  LanePoints integer_;

 private:
  /// Bytes of pairs of planes, by lane: four groups of two planes.
  void make_planes(std::uint32_t pairs) {
    for (unsigned slice = 0; 4 * slice < pairs; ++slice) {
      for (int group = 0; group < 4; ++group) {
        for (unsigned lane = 0; lane < tile_lanes; ++lane) {
          std::uint32_t halves[2] = {0, 0};
          for (int bit = 0; bit < 8; ++bit) {
            const std::uint32_t u = zigzag32((*kept_)[Shape::point_of(group, bit)][lane]);
            halves[bit / 4] |= ((u >> (8 * slice)) & 255) << (8 * (bit % 4));
          }
          transpose_bits(halves[0], halves[1]);
          for (unsigned pair = 0; pair < 4; ++pair) {
            const std::uint32_t bytes = (halves[pair / 2] >> (16 * (pair % 2))) & 0xFFFF;
            std::uint32_t& word = plane_[4 * slice + pair][group / 2][lane];
            word = group % 2 == 0 ? bytes : word | bytes << 16;
          }
        }
      }
    }
  }

  /// Flags the nonzero bytes of a pair. Returns the bytes it takes if sparse.
  std::uint32_t look_at_pair(std::uint32_t pair) {
    std::uint32_t bytes = 0;
    lanes_[pair] = 0;
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      const std::uint32_t unions[4] = {union_[0][lane], union_[1][lane], union_[2][lane],
                                       union_[3][lane]};
      const std::uint32_t flags = flags_of_pair(unions, pair);
      flags_[pair][lane] = static_cast<std::uint8_t>(flags);
      lanes_[pair] |= std::uint32_t{flags != 0} << lane;
      std::uint32_t ones = flags - ((flags >> 1) & 0x55U);
      ones = (ones & 0x33U) + ((ones >> 2) & 0x33U);
      bytes += (flags != 0 ? 1 : 0) + ((ones + (ones >> 4)) & 15);
    }
    return bytes;
  }

  LanePoints along_x_;
  LanePoints along_xy_;
  LanePoints along_xyz_;
  const LanePoints* kept_ = nullptr;  ///< of the chosen axes
  std::uint32_t axes_ = 0;
  Unions union_;
  Lanes plane_[TileHead::max_pairs][2];
  std::uint32_t lanes_[TileHead::max_pairs];
  std::uint8_t flags_[TileHead::max_pairs][tile_lanes];
};

}  // namespace cuszi::cpu

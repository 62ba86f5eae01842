#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/dims.hpp"
#include "core/base/hd.hpp"
#include "core/field/frame_shape.hpp"
#include "core/field/sample.hpp"
#include "core/field/selection.hpp"

namespace cuszi {

/// The blocks of a frame's points that may have bounds of their own: 8x8x8, 16x16 or 512 points, by
/// how many of the extents are above 1.
struct BlockGrid {
  std::array<std::uint8_t, 3> log2{};  ///< of a block's extents z, y, x
  Extents3 blocks{};                   ///< along each axis

  static BlockGrid of(const Dims& dims);
  CUSZI_HD std::uint64_t count() const { return blocks[0] * blocks[1] * blocks[2]; }
};

/// Where the rows of an array lie among the blocks of a frame, whose points it has: all, or those
/// of a preview. The axes are the frame's without those of extent 1, padded in front.
struct BlockRows {
  std::array<std::uint64_t, Dims::max_rank> frame{};    ///< extents
  std::array<std::uint64_t, Dims::max_rank> extents{};  ///< of the array
  std::array<std::uint64_t, Dims::max_rank> first{};    ///< of the frame's indices
  std::array<std::uint64_t, Dims::max_rank> step{};     ///< between them
  BlockGrid grid;

  static BlockRows of(const Selection& points);

  CUSZI_HD std::uint64_t row_points() const { return extents[3]; }
  CUSZI_HD std::uint64_t rows() const { return extents[0] * extents[1] * extents[2]; }

  /// The block at the beginning of the frame's row that this row of the array is of.
  CUSZI_HD std::uint64_t first_block(std::uint64_t row) const {
    const std::uint64_t y = first[2] + row % extents[2] * step[2];
    row /= extents[2];
    const std::uint64_t slow = first[0] + row / extents[1] * step[0];
    const std::uint64_t z = slow * frame[1] + first[1] + row % extents[1] * step[1];
    return ((z >> grid.log2[0]) * grid.blocks[1] + (y >> grid.log2[1])) * grid.blocks[2];
  }
  /// How many blocks behind it a point of the row lies.
  CUSZI_HD std::uint64_t block_in_row(std::uint64_t x) const {
    return (first[3] + x * step[3]) >> grid.log2[2];
  }
};

/// What a user allows the points of a frame, in absolute bounds.
struct AskedBounds {
  std::vector<double> of_blocks;  ///< the least of each block's points, but for 0; infinite if none
  std::vector<std::uint64_t> lossless;  ///< points of bound 0: bit i % 64 of word i / 64; or none
};

/// A bound of some blocks, and half the quantiser's step under it at level 1.
struct LocalBound {
  double bound = 0;
  double half_step = 0;

  friend bool operator==(const LocalBound&, const LocalBound&) = default;
};

/// The blocks of a frame whose bounds are smaller than the frame's own.
struct LocalBounds {
  static constexpr std::size_t most = 255;

  std::vector<LocalBound> bounds;    ///< from large to small
  std::vector<std::uint8_t> blocks;  ///< which of them, from 1; 0: the frame's

  /// The section of the archive.
  std::vector<std::byte> encode() const;
  /// Decodes what encode() writes, for a frame of this shape. Throws ArchiveError.
  static LocalBounds decode(Bytes bytes, const FrameShape& shape);

  /// What `blocks` has for each of these points of the frame.
  std::vector<std::uint8_t> of_points(const Selection& points) const;

  friend bool operator==(const LocalBounds&, const LocalBounds&) = default;
};

/// How a frame is coded under the bounds that a user asks for.
struct BoundPlan {
  double bound = 0;                  ///< the largest of any block
  double typical = 0;                ///< what choices are made for
  std::optional<LocalBounds> local;  ///< if not all blocks have the same
  std::vector<std::uint64_t> kept;   ///< points whose bits are kept; or none
};

/// Gives every block the largest bound that may not be exceeded by the least asked of its points,
/// `bound` included. Up to 32 different ones are kept as they are, more are rounded down to
/// fourths of octaves below the largest.
BoundPlan plan_bounds(const AskedBounds& asked, double bound, const FieldScan& scan,
                      const FrameShape& shape);

/// The bounds of some of a frame's points, to be compared with their errors.
struct PointBounds {
  std::vector<double> bounds;        ///< the frame's, then the local ones
  std::vector<std::uint8_t> points;  ///< which of them each point has; empty: the first

  PointBounds(double largest, const LocalBounds* local, const Selection& selected);

  double of(std::uint64_t point) const { return bounds[points.empty() ? 0 : points[point]]; }
};

}  // namespace cuszi

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

/// Blocks with local bounds: 8x8x8, 16x16 or 512 points by rank.
struct BlockGrid {
  std::array<std::uint8_t, 3> log2{};  ///< of a block's extents z, y, x
  Extents3 blocks{};

  static BlockGrid of(const Extents3& extents);
  CUSZI_HD std::uint64_t count() const { return blocks[0] * blocks[1] * blocks[2]; }
  CUSZI_HD std::uint64_t block_of(std::uint64_t z, std::uint64_t y, std::uint64_t x) const {
    return ((z >> log2[0]) * blocks[1] + (y >> log2[1])) * blocks[2] + (x >> log2[2]);
  }
};

/// Maps rows of selected points to blocks. Axes of extent 1 are dropped, the rest padded in front.
struct BlockRows {
  std::array<std::uint64_t, Dims::max_rank> frame{};    ///< extents
  std::array<std::uint64_t, Dims::max_rank> extents{};  ///< of the array
  std::array<std::uint64_t, Dims::max_rank> first{};    ///< frame index
  std::array<std::uint64_t, Dims::max_rank> step{};     ///< in frame indices
  BlockGrid grid;

  static BlockRows of(const Selection& points);

  CUSZI_HD std::uint64_t row_points() const { return extents[3]; }
  CUSZI_HD std::uint64_t rows() const { return extents[0] * extents[1] * extents[2]; }

  /// The first block of the frame's row that contains the array's row.
  CUSZI_HD std::uint64_t first_block(std::uint64_t row) const {
    const std::uint64_t y = first[2] + row % extents[2] * step[2];
    row /= extents[2];
    const std::uint64_t slow = first[0] + row / extents[1] * step[0];
    const std::uint64_t z = slow * frame[1] + first[1] + row % extents[1] * step[1];
    return grid.block_of(z, y, 0);
  }
  /// Block of a point, relative to first_block().
  CUSZI_HD std::uint64_t block_in_row(std::uint64_t x) const {
    return (first[3] + x * step[3]) >> grid.log2[2];
  }
};

struct AskedBounds {
  std::vector<double> of_blocks;        ///< smallest above 0 in each block; infinite if none
  std::vector<std::uint64_t> lossless;  ///< bit i % 64 of word i / 64: bound 0 at point i; may be
                                        ///< empty
};

struct LocalBound {
  double bound = 0;
  double half_step = 0;

  friend bool operator==(const LocalBound&, const LocalBound&) = default;
};

struct LocalBounds {
  static constexpr std::size_t most = 255;

  std::vector<LocalBound> bounds;    ///< descending
  std::vector<std::uint8_t> blocks;  ///< 1-based index of the bound; 0: the frame's

  std::vector<std::byte> encode() const;
  /// Inverse of encode(). Throws ArchiveError.
  static LocalBounds decode(Bytes bytes, const FrameShape& shape);

  std::vector<std::uint8_t> of_points(const Selection& points) const;

  friend bool operator==(const LocalBounds&, const LocalBounds&) = default;
};

struct BoundPlan {
  double bound = 0;                  ///< largest of any block
  double typical = 0;                ///< for the encoder's choices
  std::optional<LocalBounds> local;  ///< if blocks differ
  std::vector<std::uint64_t> kept;   ///< points to store exactly; may be empty
};

/// The half step that a predictor takes for a bound of values in [min, max].
using HalfStepRule = double (*)(double bound, double min, double max, DType dtype);

/// A block's bound is the smallest of its points' and `bound`. Above 32 distinct bounds, they are
/// rounded down to quarter octaves below the largest.
BoundPlan plan_bounds(const AskedBounds& asked, double bound, const FieldScan& scan,
                      const FrameShape& shape, HalfStepRule half_step);

struct PointBounds {
  std::vector<double> bounds;        ///< the frame's, then the local ones
  std::vector<std::uint8_t> points;  ///< index by point; empty: all 0

  PointBounds(double largest, const LocalBounds* local, const Selection& selected);

  double of(std::uint64_t point) const { return bounds[points.empty() ? 0 : points[point]]; }
};

}  // namespace cuszi

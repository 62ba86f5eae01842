#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/field/local_bounds.hpp"
#include "core/field/selection.hpp"

namespace cuszi {

/// A part of a field with a bound of its own, in the sense of the field's; 0 is lossless.
struct BoundRegion {
  Box box;
  double bound = 0;
};

/// The largest float that is not above a bound: what a field of bounds has of it. NaN stays NaN.
float float_below(double bound);

/// Bounds of a field's points in the sense of its own, in raster order: one of each point, or of
/// each block of points from the first index on.
struct BoundField {
  std::span<const float> bounds;
  std::array<std::uint64_t, Dims::max_rank> block{1, 1, 1, 1};  ///< extents, as the field's axes

  /// How many there are for a field of these dims.
  std::uint64_t count(const Dims& dims) const;
};

/// What a user asks for parts of a field. The bound of a point is that of the last region that has
/// it, else that of the field of bounds, and never above the field's own bound.
struct BoundsByPlace {
  std::vector<BoundRegion> regions;
  BoundField field;

  bool any() const { return !regions.empty() || !field.bounds.empty(); }

  /// Throws UsageError unless the regions lie in a field of these dims, and bounds are numbers of
  /// at least 0, as many as are needed.
  void check(const Dims& dims) const;

  /// What is asked for the points of a frame of dims `frame`, whose first point has the indices
  /// `origin` in a field of dims `dims`. `absolute` gives the absolute bound that one means.
  AskedBounds of_frame(const Dims& dims, const Dims& frame,
                       const std::array<std::uint64_t, Dims::max_rank>& origin,
                       const std::function<double(double)>& absolute) const;
};

}  // namespace cuszi

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/field/local_bounds.hpp"
#include "core/field/selection.hpp"

namespace cuszi {

/// A box with its own bound, in the field's mode; 0 is lossless.
struct BoundRegion {
  Box box;
  double bound = 0;
};

/// Rounds down to float. NaN stays NaN.
float float_below(double bound);

/// Bounds in the field's mode and in raster order, one per point or per block of points.
struct BoundField {
  std::span<const float> bounds;
  std::array<std::uint64_t, Dims::max_rank> block{1, 1, 1, 1};  ///< extents along the field's axes

  std::uint64_t count(const Dims& dims) const;
};

/// Local bounds as asked for. The last region that contains a point decides, else the field of
/// bounds; none exceeds the field's own bound.
struct BoundsByPlace {
  std::vector<BoundRegion> regions;
  BoundField field;

  bool any() const { return !regions.empty() || !field.bounds.empty(); }

  /// Throws UsageError unless the regions lie in the field and the bounds are complete, not NaN and
  /// at least 0.
  void check(const Dims& dims) const;

  /// Bounds of a frame at `origin`; `absolute` converts a bound to an absolute one.
  AskedBounds of_frame(const Dims& dims, const Dims& frame,
                       const std::array<std::uint64_t, Dims::max_rank>& origin,
                       const std::function<double(double)>& absolute) const;
};

}  // namespace cuszi
